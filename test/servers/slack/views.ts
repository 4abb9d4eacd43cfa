/**
 * Interactivity of the fake Slack: buttons that are pressed, windows that are opened, sent and updated, and homes. A trigger
 * opens one window, unless a test says that it has died; Slack gives it three seconds.
 */
import { randomUUID } from 'node:crypto';
import type { ChatMessage } from './chat.ts';
import { problemsOfBlocks, problemsOfView } from './check-view.ts';
import type { Block, View } from './check-view.ts';
import type { Sent } from './deliver.ts';
import { valuesOf } from './entered.ts';
import type { Entered } from './entered.ts';
import { MethodRefused, text } from './methods.ts';
import type { SlackServer } from './slack-server.ts';

export interface Press {
  by: string;
  /** The words on the button; the first that has them, unless `value` says which. */
  button: string;
  /** Left out: in their home. */
  message?: Pick<ChatMessage, 'channel' | 'ts' | 'threadTs' | 'blocks'>;
  team?: string;
  /** Instead of what the button says. */
  value?: string;
  /** The trigger is dead already. */
  isLate?: boolean;
}

/** A modal on a person's screen. */
export interface OpenWindow {
  id: string;
  by: string;
  view: View;
  hash: string;
  isOpen: boolean;
  /** Below the inputs, by their blocks. */
  errors: Record<string, string>;
}

export interface Submit {
  /** Default: the person who has it open. */
  by?: string;
  team?: string;
  /** Instead of what the window holds. */
  metadata?: string;
}

export interface Views {
  /** Each as it was opened, with the person who sees it. */
  opened: OpenWindow[];
  /** By workspace and person. */
  homes: Map<string, View>;
  press(url: string, press: Press): Promise<Sent>;
  /** Sends what is entered, by the labels of the inputs, and does what the answer says. */
  submit(url: string, window: OpenWindow, entered?: Entered, more?: Submit): Promise<Sent>;
}

interface Button {
  action_id: string;
  value: string;
  text: { text: string };
}

export function addViews(slack: SlackServer): Views {
  const triggers = new Map<string, string>();
  const hashes = { last: 0, next: () => `hash.${(hashes.last += 1)}` };
  const views: Views = {
    opened: [],
    homes: new Map(),
    async press(url, { by, button, message, team = 'T1', value, isLate = false }) {
      const shown = message ?? views.homes.get(`${team} ${by}`) ?? { blocks: [] };
      const found = buttonsOf(shown).find((one) => one.text.text === button);
      if (!found) throw new Error(`There is no button "${button}".`);
      const trigger = randomUUID();
      if (!isLate) triggers.set(trigger, by);
      return slack.sendForm(url, {
        payload: JSON.stringify({
          type: 'block_actions',
          team: { id: team },
          user: { id: by, team_id: team },
          ...(message && { channel: { id: message.channel } }),
          container: message ? containerOf(message) : { type: 'view', view_id: `VHOME${by}` },
          trigger_id: trigger,
          actions: [{ action_id: found.action_id, value: value ?? found.value }],
        }),
      });
    },
    async submit(url, window, entered = {}, { by = window.by, team = 'T1', metadata } = {}) {
      const { id, view, hash } = window;
      const values = valuesOf(view, entered);
      const sent = await slack.sendForm(url, {
        payload: JSON.stringify({
          type: 'view_submission',
          team: { id: team },
          user: { id: by, team_id: team },
          view: {
            ...view,
            id,
            hash,
            private_metadata: metadata ?? view.private_metadata ?? '',
            state: { values },
          },
          response_urls: [],
        }),
      });
      if (sent.status === 200 && metadata === undefined) carryOut(window, sent.body);
      return sent;
    },
  };

  function carryOut(window: OpenWindow, body: string): void {
    window.errors = {};
    const answer = (body === '' ? {} : JSON.parse(body)) as {
      response_action?: string;
      errors?: Record<string, string>;
      view?: View;
    };
    switch (answer.response_action) {
      case 'errors':
        window.errors = answer.errors ?? {};
        return;
      case 'update':
        show(window, answer.view);
        return;
      default:
        window.isOpen = false;
    }
  }

  function show(window: OpenWindow, view: unknown): void {
    window.view = checked(view);
    window.hash = hashes.next();
  }

  slack.methods.set('views.open', ({ args }) => {
    const trigger = text(args, 'trigger_id');
    const by = triggers.get(trigger);
    if (by === undefined) throw new MethodRefused('expired_trigger_id');
    const view = checked(args['view']);
    triggers.delete(trigger);
    const id = `V${views.opened.length + 1}`;
    views.opened.push({ id, by, view, hash: hashes.next(), isOpen: true, errors: {} });
    return { view: { id } };
  });
  slack.methods.set('views.update', ({ args }) => {
    const window = views.opened.find(({ id, isOpen }) => isOpen && id === args['view_id']);
    if (!window) throw new MethodRefused('not_found');
    if (args['hash'] !== undefined && args['hash'] !== window.hash) throw new MethodRefused('hash_conflict');
    show(window, args['view']);
    return {};
  });
  slack.methods.set('views.publish', ({ args, workspace }) => {
    views.homes.set(`${workspace?.id ?? ''} ${text(args, 'user_id')}`, checked(args['view']));
    return {};
  });
  return views;
}

function checked(given: unknown): View {
  const view = given as View;
  const problems = problemsOfView(view);
  if (problems.length > 0)
    throw new MethodRefused('invalid_arguments', { response_metadata: { messages: problems } });
  return view;
}

/** Of a message; Slack refuses it as a whole. */
export function checkBlocks(blocks: unknown): void {
  const given = (blocks ?? []) as Block[];
  if (given.length > 50 || problemsOfBlocks(given).length > 0) throw new MethodRefused('invalid_blocks');
}

function containerOf({ ts, threadTs }: Pick<ChatMessage, 'ts' | 'threadTs'>): object {
  return { type: 'message', message_ts: ts, ...(threadTs !== null && { thread_ts: threadTs }) };
}

export function buttonsOf({ blocks }: { blocks: unknown }): Button[] {
  return (blocks as { type: string; elements?: Button[] }[]).flatMap(({ type, elements = [] }) =>
    type === 'actions' ? elements : [],
  );
}
