/** Reads what Slack's Events API sends, and the text of messages as Slack writes it. Pure. */
import { z } from 'zod';

const id = z.string().min(1).max(100);
const ts = z.string().regex(/^\d{1,12}\.\d{1,12}$/);

const eventSchema = z.looseObject({ type: z.string().max(100) });
export type SlackEventBody = z.infer<typeof eventSchema>;

const messageSchema = z.object({
  channel: id,
  channel_type: z.string().nullish(),
  ts,
  thread_ts: ts.nullish(),
  user: id,
  text: z.string().nullish(),
  files: z.array(z.object({ name: z.string().nullish() })).nullish(),
  attachments: z
    .array(
      z.object({
        is_share: z.boolean().nullish(),
        is_msg_unfurl: z.boolean().nullish(),
        author_name: z.string().nullish().catch(undefined),
        text: z.string().nullish().catch(undefined),
      }),
    )
    .catch([]),
});

/** `event` is stored unchanged. */
export type Envelope =
  | { kind: 'verification'; challenge: string }
  | { kind: 'event'; team: string; eventId: string; event: SlackEventBody }
  | { kind: 'other'; type: string };

const envelopeSchema = z.union([
  z.object({ type: z.literal('url_verification'), challenge: z.string().max(1_000) }),
  z.object({
    type: z.literal('event_callback'),
    team_id: id,
    event_id: id,
    event: eventSchema,
    /** The installation that this is for. In shared channels, the event may be of another workspace. */
    authorizations: z.array(z.object({ team_id: id.nullish() })).nullish(),
  }),
  z.object({ type: z.string().max(100) }),
]);

/** Null: not an envelope of Slack. */
export function readEnvelope(body: unknown): Envelope | null {
  const { data } = envelopeSchema.safeParse(body);
  if (!data) return null;
  if ('challenge' in data) return { kind: 'verification', challenge: data.challenge };
  if (!('event' in data)) return { kind: 'other', type: data.type };
  const team = data.authorizations?.[0]?.team_id ?? data.team_id;
  return { kind: 'event', team, eventId: data.event_id, event: data.event };
}

export interface SlackMessage {
  channel: string;
  /** In a direct message, everything is meant for us. */
  isDirect: boolean;
  isMention: boolean;
  ts: string;
  /** The thread of the message, or that it would begin. */
  threadTs: string;
  slackUser: string;
  /** In Slack's markup: see `plainText`. */
  text: string;
  /** Names of attached files. */
  files: string[];
  /** Messages that it forwards or links to, in Slack's markup. */
  forwarded: { author: string | null; text: string }[];
}

/** Subtypes of messages that people write; edits, joins and the like have others. */
const written = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/**
 * Null: not a message of a person. A message that mentions us arrives as `message`, as `app_mention`, or as both: in shared
 * channels and with shared files there is no `app_mention`.
 */
export function readMessage(event: SlackEventBody, botUser: string): SlackMessage | null {
  const { type, subtype, hidden } = event;
  if (type !== 'message' && type !== 'app_mention') return null;
  const isOfBot = event['bot_id'] != null || event['bot_profile'] != null || event['user'] === botUser;
  if (isOfBot || hidden === true || !written.has((subtype ?? undefined) as string | undefined)) return null;
  const { data } = messageSchema.safeParse(event);
  if (!data) return null;
  const isDirect = data.channel_type === 'im';
  const isMention = type === 'app_mention' || data.text?.includes(`<@${botUser}>`) === true;
  return {
    channel: data.channel,
    isDirect,
    isMention,
    ts: data.ts,
    threadTs: data.thread_ts ?? data.ts,
    slackUser: data.user,
    text: data.text ?? '',
    files: (data.files ?? []).map(({ name }) => name ?? 'a file'),
    forwarded: data.attachments.flatMap(({ is_share, is_msg_unfurl, author_name: author, text }) =>
      (is_share === true || is_msg_unfurl === true) && text ? [{ author: author ?? null, text }] : [],
    ),
  };
}

/** Slack's ids of the people that a text mentions. */
export function mentionsIn(text: string): string[] {
  return [...new Set([...text.matchAll(/<@([A-Z0-9]+)(?:\|[^<>]*)?>/g)].map(([, id = '']) => id))];
}

interface TextOptions {
  /** Our own user: mentions of it are removed. */
  botUser: string;
  /** People's names by id. */
  names: ReadonlyMap<string, string>;
}

/** Replaces Slack's markup: `<@U1>`, `<https://a.example|label>`, `&amp;`. */
export function plainText(text: string, options: TextOptions): string {
  const read = text.replaceAll(/<([^<>]*)>/g, (_, inside: string) => readMarkup(inside, options));
  return read.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&').trim();
}

function readMarkup(inside: string, { botUser, names }: TextOptions): string {
  const bar = inside.indexOf('|');
  const [target, label] =
    bar === -1 ? [inside, undefined] : [inside.slice(0, bar), inside.slice(bar + 1) || undefined];
  switch (target[0]) {
    case '@': {
      const id = target.slice(1);
      return id === botUser ? '' : `@${names.get(id) ?? label ?? id}`;
    }
    case '#':
      return `#${label ?? target.slice(1)}`;
    case '!':
      return readCommand(target.slice(1), label);
    default:
      return readLink(target, label);
  }
}

/** `here`, `subteam^S1`, `date^…`: the last two have a label. */
function readCommand(command: string, label: string | undefined): string {
  const [name = ''] = command.split('^');
  if (label !== undefined) return label;
  return name === 'subteam' ? '@group' : `@${name}`;
}

function readLink(address: string, label: string | undefined): string {
  const shown = address.startsWith('mailto:') ? address.slice('mailto:'.length) : address;
  if (label === undefined || label === shown || address.endsWith(`://${label}`)) return shown;
  return `${label} (${shown})`;
}
