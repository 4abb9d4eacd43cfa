/**
 * Messages of the fake Slack: posted, edited, streamed and read back. A stream dies after its time, as Slack's do; calls can
 * be refused, limited, lost on their way back, or not answered at all for as long as a test says.
 */
import { MethodHttp, MethodRefused, text, workspaceOf } from './methods.ts';
import type { Method, MethodCall } from './methods.ts';
import type { SlackServer } from './slack-server.ts';
import { checkBlocks } from './views.ts';

export interface ChatMessage {
  channel: string;
  ts: string;
  threadTs: string | null;
  user: string;
  text: string;
  blocks: unknown;
  metadata: unknown;
  /** When it began, while it is a stream that has not been stopped. */
  streamedSince: number | null;
}

export type Fault =
  /** Not carried out. */
  | { kind: 'limited'; seconds: number }
  | { kind: 'refused'; code: string }
  | { kind: 'down' }
  /** Not carried out; something in between answers with a page of its own. */
  | { kind: 'page'; status: number }
  /** Carried out, and the answer does not arrive. */
  | { kind: 'lost' }
  /** Neither carried out nor answered until `until` resolves. */
  | { kind: 'stuck'; until: Promise<unknown> }
  /** Carried out, with no answer until `until` resolves. */
  | { kind: 'held'; until: Promise<unknown> };

export interface Chat {
  /** Of a thread, oldest first, without its first one. */
  thread(channel: string, threadTs: string): ChatMessage[];
  /** What people read there. */
  texts(channel: string, threadTs: string): string[];
  /** What becomes of a call; undefined: it is carried out. Default: all are. */
  fault: (call: MethodCall) => Fault | undefined;
  streamLifeMs: number;
  /** Outside of direct messages. */
  streamsInChannels: boolean;
}

const handledHere = [
  'chat.postMessage',
  'chat.update',
  'chat.delete',
  'chat.startStream',
  'chat.appendStream',
  'chat.stopStream',
  'conversations.replies',
  'chat.postEphemeral',
  'assistant.threads.setStatus',
  'agents.sessions.setStatus',
];

export function addChat(slack: SlackServer): Chat {
  const messages: ChatMessage[] = [];
  const chat: Chat = {
    thread: (channel, threadTs) =>
      messages.filter((message) => message.channel === channel && message.threadTs === threadTs),
    texts: (channel, threadTs) => chat.thread(channel, threadTs).map((message) => message.text),
    fault: () => undefined,
    streamLifeMs: 5 * 60_000,
    streamsInChannels: true,
  };

  function add(call: MethodCall, streamedSince: number | null): ChatMessage {
    const { args } = call;
    const message: ChatMessage = {
      channel: text(args, 'channel'),
      ts: slack.nextTs(),
      threadTs: text(args, 'thread_ts') || null,
      user: workspaceOf(call).botUser,
      text: streamedSince === null ? text(args, 'text') : text(args, 'markdown_text'),
      blocks: args['blocks'] ?? [],
      metadata: args['metadata'],
      streamedSince,
    };
    messages.push(message);
    return message;
  }

  function find({ args }: MethodCall): ChatMessage {
    const found = messages.find(({ channel, ts }) => channel === args['channel'] && ts === args['ts']);
    if (!found) throw new MethodRefused('message_not_found');
    return found;
  }

  function findStream(call: MethodCall): ChatMessage {
    const found = find(call);
    const { streamedSince } = found;
    if (streamedSince === null || Date.now() - streamedSince > chat.streamLifeMs) {
      found.streamedSince = null;
      throw new MethodRefused('message_not_in_streaming_state');
    }
    return found;
  }

  function checkLength(words: string, limit: number): void {
    if (words.length > limit) throw new MethodRefused('msg_too_long');
  }

  const methods: Record<string, Method> = {
    'chat.postMessage': (call) => {
      checkLength(text(call.args, 'text'), 40_000);
      checkBlocks(call.args['blocks']);
      const { ts, channel } = add(call, null);
      return { ts, channel };
    },
    'chat.update': (call) => {
      checkLength(text(call.args, 'text'), 4_000);
      checkBlocks(call.args['blocks']);
      const found = find(call);
      if (found.streamedSince !== null && Date.now() - found.streamedSince <= chat.streamLifeMs)
        throw new MethodRefused('streaming_state_conflict');
      found.streamedSince = null;
      found.text = text(call.args, 'text');
      found.blocks = call.args['blocks'] ?? [];
      found.metadata = call.args['metadata'] ?? found.metadata;
      return { ts: found.ts, channel: found.channel };
    },
    'chat.delete': (call) => {
      messages.splice(messages.indexOf(find(call)), 1);
      return {};
    },
    'chat.postEphemeral': () => ({ message_ts: slack.nextTs() }),
    'chat.startStream': (call) => {
      const { args } = call;
      checkLength(text(args, 'markdown_text'), 12_000);
      const isDirect = text(args, 'channel').startsWith('D');
      if (!isDirect && !chat.streamsInChannels) throw new MethodRefused('channel_type_not_supported');
      if (!isDirect && text(args, 'recipient_user_id') === '')
        throw new MethodRefused('missing_recipient_user_id');
      if (!isDirect && text(args, 'recipient_team_id') === '')
        throw new MethodRefused('missing_recipient_team_id');
      const { ts, channel } = add(call, Date.now());
      return { ts, channel };
    },
    'chat.appendStream': (call) => {
      checkLength(text(call.args, 'markdown_text'), 12_000);
      findStream(call).text += text(call.args, 'markdown_text');
      return {};
    },
    'chat.stopStream': (call) => {
      const found = findStream(call);
      found.text += text(call.args, 'markdown_text');
      found.metadata = call.args['metadata'];
      found.streamedSince = null;
      return {};
    },
    'conversations.replies': ({ args }) => ({
      messages: messages
        .filter(({ channel, threadTs }) => channel === args['channel'] && threadTs === args['ts'])
        .filter(({ ts }) => Number(ts) >= Number(args['oldest'] ?? 0))
        .map(({ channel: _channel, streamedSince: _since, threadTs, ...message }) => ({
          ...message,
          thread_ts: threadTs,
        })),
      has_more: false,
    }),
    'assistant.threads.setStatus': () => ({}),
    'agents.sessions.setStatus': ({ args }) => ({ status: args['status'] }),
  };

  async function withFaults(name: string, call: MethodCall) {
    const carryOut = () => (methods[name] as Method)(call);
    workspaceOf(call);
    const fault = chat.fault(call);
    switch (fault?.kind) {
      case undefined:
        return carryOut();
      case 'limited':
        return new MethodHttp(429, { 'retry-after': String(fault.seconds) });
      case 'refused':
        if (fault.code === 'message_not_in_streaming_state') find(call).streamedSince = null;
        throw new MethodRefused(fault.code);
      case 'down':
        return new MethodHttp(503);
      case 'page':
        return new MethodHttp(fault.status, { 'content-type': 'text/html' }, '<html>Back soon</html>');
      case 'lost':
        await carryOut();
        return new MethodHttp(502);
      case 'stuck':
        await fault.until;
        return new MethodHttp(503);
      case 'held': {
        const answer = await carryOut();
        await fault.until;
        return answer;
      }
      default:
        return fault satisfies never;
    }
  }
  for (const name of handledHere) slack.methods.set(name, (call) => withFaults(name, call));
  return chat;
}
