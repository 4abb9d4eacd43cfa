/** Interactivity of the fake Slack: buttons that are pressed, and windows, whose trigger dies after three seconds. */
import { randomUUID } from 'node:crypto';
import type { ChatMessage } from './chat.ts';
import type { Sent } from './deliver.ts';
import { MethodRefused, text } from './methods.ts';
import type { SlackServer } from './slack-server.ts';

export interface Press {
  by: string;
  /** The words on the button. */
  button: string;
  message: ChatMessage;
  team?: string;
  /** Instead of what the button says. */
  value?: string;
  /** The trigger is dead already. */
  isLate?: boolean;
}

export interface Views {
  /** Each as it was opened, with the person who sees it. */
  opened: { by: string; view: { blocks: unknown[] } & Record<string, unknown> }[];
  press(url: string, press: Press): Promise<Sent>;
}

interface Button {
  action_id: string;
  value: string;
  text: { text: string };
}

export function addViews(slack: SlackServer): Views {
  const triggers = new Map<string, string>();
  const views: Views = {
    opened: [],
    async press(url, { by, button, message, team = 'T1', value, isLate = false }) {
      const found = buttonsOf(message).find((one) => one.text.text === button);
      if (!found) throw new Error(`There is no button "${button}".`);
      const trigger = randomUUID();
      if (!isLate) triggers.set(trigger, by);
      const payload = {
        type: 'block_actions',
        team: { id: team },
        user: { id: by, team_id: team },
        channel: { id: message.channel },
        container: {
          type: 'message',
          message_ts: message.ts,
          ...(message.threadTs !== null && { thread_ts: message.threadTs }),
        },
        trigger_id: trigger,
        actions: [{ action_id: found.action_id, value: value ?? found.value }],
      };
      return slack.sendForm(url, { payload: JSON.stringify(payload) });
    },
  };
  slack.methods.set('views.open', ({ args }) => {
    const trigger = text(args, 'trigger_id');
    const by = triggers.get(trigger);
    if (by === undefined) throw new MethodRefused('expired_trigger_id');
    triggers.delete(trigger);
    views.opened.push({ by, view: args['view'] as Views['opened'][number]['view'] });
    return { view: { id: `V${views.opened.length}` } };
  });
  return views;
}

export function buttonsOf({ blocks }: Pick<ChatMessage, 'blocks'>): Button[] {
  return (blocks as { type: string; elements?: Button[] }[]).flatMap(({ type, elements = [] }) =>
    type === 'actions' ? elements : [],
  );
}
