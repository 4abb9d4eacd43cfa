/**
 * Connects by Nango in a window beside the page. Without this script, or if it fails, the same forms lead there in the page's own
 * window. Only the server decides whether the goal is reached; the script polls it while the page is visible.
 */
import Nango from '@nangohq/frontend';

/**
 * @typedef {'asking' | 'waiting' | 'denied' | 'failed'} Step
 * @typedef {{ attempt: string, token: string, host: string, websocketsPath: string, integration: string,
 *   expiresInMs: number, isUnderway: boolean }} Session
 * @typedef {{ state: 'open' } | { state: 'lost' } | { state: 'over', url: string }} State
 */

const [firstPauseMs, lastPauseMs] = [2_000, 10_000];
/** If the window stays empty for this long, Nango's messages do not reach this page. */
const emptyWindowMs = 6_000;
/** Ignore the second click of a double click. */
const doubleClickMs = 800;

const found = document.querySelector('[data-nango]');
if (found instanceof HTMLElement) start(found);

/** @param {HTMLElement} root */
function start(root) {
  const { nango: api = '', goal = '{}', csrf = '' } = root.dataset;
  /** In memory only; renewed before it expires. @type {Session | undefined} */
  let session;
  /** While a session is requested. @type {Promise<void> | undefined} */
  let arriving;
  /** @type {Nango | undefined} */
  let beside;
  /** The attempt to look for. @type {string | undefined} */
  let awaited;
  let pause = firstPauseMs;
  let isOver = false;
  let goesByPage = false;
  let lastClick = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let nextLook;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let nextRenewal;

  root.addEventListener('submit', (event) => {
    const { target: form, submitter: button } = event;
    if (goesByPage || !(form instanceof HTMLFormElement) || !(button instanceof HTMLButtonElement)) return;
    if (button.value !== 'connect') return closeBeside();
    if (button.dataset['way'] === 'page') return closeBeside();
    event.preventDefault();
    if (event.timeStamp - lastClick < doubleClickMs) return;
    lastClick = event.timeStamp;
    const goByPage = () => {
      closeBeside();
      // A form cannot be sent during its own submit event.
      setTimeout(() => {
        goesByPage = true;
        form.requestSubmit(button);
        goesByPage = false;
      });
    };
    // Browsers allow a new window only during the click.
    if (session) openBeside(session, goByPage);
    else void renew().then(() => (session ? openBeside(session, goByPage) : goByPage()));
  });

  // Leaving by a link gives up the attempt; reloading does not.
  root.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a')) closeBeside();
  });
  root.dataset['isReady'] = '';
  document.addEventListener('visibilitychange', lookNow);
  window.addEventListener('focus', lookNow);
  // Restored from the back/forward cache: the state may be old.
  window.addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  void renew();

  /**
   * @param {Session} given
   * @param {() => void} goByPage
   */
  function openBeside({ token, host, websocketsPath, integration, attempt }, goByPage) {
    closeBeside();
    const nango = new Nango({ host, websocketsPath, connectSessionToken: token });
    const authorized = nango.auth(integration);
    awaited = attempt;
    if (nango.win) {
      beside = nango;
      show('waiting');
      lookNow();
      setTimeout(() => beside === nango && isEmpty(nango) && goByPage(), emptyWindowMs);
    } else goByPage();
    authorized.then(
      ({ connectionId }) => void complete(attempt, connectionId),
      (/** @type {unknown} */ error) => {
        const type = error instanceof Error && 'type' in error ? error.type : undefined;
        // Blocked, or closed by the person.
        if (beside !== nango || type === 'blocked_by_browser') return;
        show(type === 'callback_err' ? 'denied' : 'failed');
      },
    );
  }

  function closeBeside() {
    const window = beside?.win;
    // The library closes the window only after a while, when this page may be gone.
    beside?.clear();
    window?.close();
    beside = undefined;
  }

  /**
   * @param {string} attempt
   * @param {string} connectionId
   */
  async function complete(attempt, connectionId) {
    const answer = await ask('complete', { attempt, connectionId });
    if (answer.ok) follow(answer.body);
    else if (answer.status === 403) show('failed');
    // The server could not ask Nango; keep polling.
    pause = firstPauseMs;
    schedule();
  }

  async function look() {
    const answer = await ask('look', awaited === undefined ? {} : { attempt: awaited });
    if (answer.ok) follow(answer.body);
    // Signed out or signed in as another user: the reloaded page says so.
    else if ([401, 403, 404].includes(answer.status)) return location.reload();
    pause = Math.min(pause * (answer.ok ? 1.3 : 2), lastPauseMs);
    schedule();
  }

  function schedule() {
    clearTimeout(nextLook);
    if (!isOver && session && !document.hidden) nextLook = setTimeout(() => void look(), pause);
  }

  function lookNow() {
    if (document.hidden || isOver) return;
    if (!session) return void renew();
    pause = firstPauseMs;
    clearTimeout(nextLook);
    nextLook = setTimeout(() => void look(), 250);
  }

  function renew() {
    arriving ??= ask('', {}).then((answer) => {
      arriving = undefined;
      if (!answer.ok) return;
      if (answer.body.state !== 'open') return follow(answer.body);
      session = /** @type {Session} */ (/** @type {unknown} */ (answer.body));
      if (session.isUnderway) awaited = session.attempt;
      nextRenewal = setTimeout(forget, session.expiresInMs * 0.8);
      schedule();
    });
    return arriving;
  }

  function forget() {
    clearTimeout(nextRenewal);
    session = undefined;
    // The next look gets a new one.
    if (!document.hidden) void renew();
  }

  /** @param {State} state */
  function follow(state) {
    switch (state.state) {
      case 'open':
        return;
      case 'lost':
        awaited = undefined;
        closeBeside();
        forget();
        return show('asking');
      case 'over':
        isOver = true;
        closeBeside();
        clearTimeout(nextLook);
        clearTimeout(nextRenewal);
        return location.replace(state.url);
      default:
        return state;
    }
  }

  /** @param {Step} step */
  function show(step) {
    // A click on the new step is not a double click.
    if (step !== 'waiting') lastClick = -Infinity;
    for (const section of root.querySelectorAll('[data-step]'))
      if (section instanceof HTMLElement) section.hidden = section.dataset['step'] !== step;
    const heading = root.querySelector(`[data-step="${step}"] h1`);
    if (!(heading instanceof HTMLElement)) return;
    document.title = heading.textContent;
    heading.tabIndex = -1;
    heading.focus();
  }

  /**
   * @param {string} what
   * @param {Record<string, string>} more
   * @returns {Promise<{ ok: true, body: State } | { ok: false, status: number }>}
   */
  async function ask(what, more) {
    try {
      const response = await fetch(what === '' ? api : `${api}/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': csrf },
        body: JSON.stringify({ ...JSON.parse(goal), ...more }),
      });
      return response.ok ? { ok: true, body: await response.json() } : { ok: false, status: response.status };
    } catch {
      return { ok: false, status: 0 };
    }
  }
}

/** @param {Nango} nango */
function isEmpty({ win }) {
  try {
    return win?.modal?.closed === false && win.modal.location.href === 'about:blank';
  } catch {
    // A page of another origin is in it.
    return false;
  }
}
