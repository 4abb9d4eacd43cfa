import Keycloak from 'keycloak-js';

const keycloak = new Keycloak({
  url: 'http://127.0.0.1:8080',
  realm: 'acme',
  clientId: 'interlude-app',
});
await keycloak.init({ onLoad: 'login-required', checkLoginIframe: false });

document.querySelector('#who').textContent = keycloak.tokenParsed.name;
document.querySelector('#sign-out').onclick = () => keycloak.logout();
document.querySelector('interlude-chat').token = async () => {
  // Renews the token if it has less than 30 seconds left. Once the session has ended, Keycloak's library leads to the sign-in;
  // while Keycloak is away for a moment, the page stays, and the chat asks again.
  await keycloak.updateToken(30);
  return keycloak.token;
};
