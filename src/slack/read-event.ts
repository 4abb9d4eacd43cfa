/** What Slack's Events API sends, as far as we look at it. Pure. */
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

/** `event` stays as it is: it is kept until somebody takes it. */
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
    /** Whose installation this is for, which in shared channels need not be where it happened. */
    authorizations: z.array(z.object({ team_id: id.nullish() })).nullish(),
  }),
  z.object({ type: z.string().max(100) }),
]);

/** Null: nothing that Slack sends. */
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
  /** Between one person and us: everything is meant for us. */
  isDirect: boolean;
  /** Names us: is meant for us. */
  isMention: boolean;
  ts: string;
  /** The thread that it is in, or would begin. */
  threadTs: string;
  slackUser: string;
  /** As Slack writes it; `plainText` reads it. */
  text: string;
  /** Names of what is attached. */
  files: string[];
  /** Messages of others that it forwards or quotes by their links, as Slack writes them. */
  forwarded: { author: string | null; text: string }[];
}

/** What people write; edits, joins and the like are messages, too. */
const written = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/**
 * Null: no message of a person. One that mentions us comes as `message` and as `app_mention`, or as only one of them: shared
 * channels and shared files have no `app_mention`.
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
