// Runs in a task's page: starts an episode from the seed in the address, shows the goal as the page's title and
// posts the raw reward to the server. The client under test only browses.
(() => {
  const asked = new URLSearchParams(location.search);

  function reportTheEnd() {
    const end = core.endEpisode;
    core.endEpisode = function (...how) {
      const running = core.EP_TIMER !== null;
      end.apply(core, how);
      if (!running) return;
      const report = { reward: WOB_RAW_REWARD_GLOBAL, reason: WOB_REWARD_REASON ?? null };
      navigator.sendBeacon(`/reward?episode=${encodeURIComponent(asked.get("episode"))}`, JSON.stringify(report));
      document.title = "The episode has ended.";
      // Without the START cover, which invites to another episode.
      if (asked.has("once")) document.body.textContent = "This page has nothing more to do.";
    };
  }

  function start() {
    reportTheEnd();
    Math.seedrandom(asked.get("seed"));
    core.EPISODE_MAX_TIME = 600_000;
    core.startEpisodeReal();
    core.clearTimer();
    core.hideDisplay();
    const goal = core.getUtterance();
    document.title = goal.utterance ?? goal;
  }

  // After the page's own onload, which lays the START cover over the task.
  addEventListener("load", start);
})();
