import "@hotwired/turbo";

carried.innerHTML = "<turbo-frame id=part src=/part loading=lazy></turbo-frame>";
