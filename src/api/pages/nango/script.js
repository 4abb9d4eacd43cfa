/**
 * Connecting in a window beside the page. Without this script, or where it gives up, the same forms lead there in the
 * page's own window. What has become of it is always the server's word, asked again and again while somebody looks.
 */
import Nango from '@nangohq/frontend';

/**
 * @typedef {'asking' | 'waiting' | 'denied' | 'failed'} Step
 * @typedef {{ attempt: string, token: string, host: string, websocketsPath: string, integration: string,
 *   expiresInMs: number, isUnderway: boolean }} Session
 * @typedef {{ state: 'open' } | { state: 'lost' } | { state: 'over', url: string }} State
 */

const [firstPauseMs, lastPauseMs] = [2_000, 10_000];
/** An empty window for this long means that Nango's answer does not get through to this page. */
const emptyWindowMs = 6_000;
/** The second click of a double click is none. */
const doubleClickMs = 800;

const found = document.querySelector('[data-nango]');
if (found instanceof HTMLElement) start(found);

/** @param {HTMLElement} root */
function start(root) {
  const { nango: api = '', goal = '{}', csrf = '' } = root.dataset;
  /** In memory only, and renewed before its time is up. @type {Session | undefined} */
  let session;
  /** While one is asked for. @type {Promise<void> | undefined} */
  let arriving;
  /** @type {Nango | undefined} */
  let beside;
  /** The attempt that something may come of. @type {string | undefined} */
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
      // A form that is being sent cannot be sent: only when this event is over.
      setTimeout(() => {
        goesByPage = true;
        form.requestSubmit(button);
        goesByPage = false;
      });
    };
    // Browsers allow a window only while the click lasts, so with a session it is opened here and now.
    if (session) openBeside(session, goByPage);
    else void renew().then(() => (session ? openBeside(session, goByPage) : goByPage()));
  });

  // Whoever leaves by a link has given up, but whoever loads the page again has not.
  root.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a')) closeBeside();
  });
  root.dataset['isReady'] = '';
  document.addEventListener('visibilitychange', lookNow);
  window.addEventListener('focus', lookNow);
  // Kept by the browser while another page was shown: what it says may be old.
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
        // Blocked after all: the person has closed it.
        if (beside !== nango || type === 'blocked_by_browser') return;
        show(type === 'callback_err' ? 'denied' : 'failed');
      },
    );
  }

  function closeBeside() {
    const window = beside?.win;
    // By itself it closes the window only after a while, in which this page may be gone.
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
    // The server could not ask Nango: looking goes on.
    pause = firstPauseMs;
    schedule();
  }

  async function look() {
    const answer = await ask('look', awaited === undefined ? {} : { attempt: awaited });
    if (answer.ok) follow(answer.body);
    // Signed out, or somebody else by now: the page itself knows what to say.
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
    // Somebody who looks again gets a new one then.
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
    // A click on what is shown now is no second one, however soon.
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
    // Somebody else's page is in it.
    return false;
  }
}
