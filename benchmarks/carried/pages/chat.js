import "deep-chat";

const chat = document.createElement("deep-chat");
chat.style = "position: fixed; right: 0; bottom: 0; width: 250px; height: 300px";
chat.demo = true;
document.body.append(chat);
