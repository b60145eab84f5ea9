import "vanilla-cookieconsent/dist/cookieconsent.css";
import * as CookieConsent from "vanilla-cookieconsent";

CookieConsent.run({
  categories: { necessary: { readOnly: true }, analytics: {} },
  language: {
    default: "en",
    translations: {
      en: {
        consentModal: { title: "Cookies", description: "We use cookies.", acceptAllBtn: "Accept all", acceptNecessaryBtn: "Reject all" },
        preferencesModal: { title: "Preferences", sections: [] },
      },
    },
  },
});
