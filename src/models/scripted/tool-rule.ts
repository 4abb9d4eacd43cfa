/** Rules of the scripted model that call tools, and how it reports their errors. */
import { isDeepStrictEqual } from 'node:util';
import type { Call, Conversation, Move, Rule, ToolOutcome } from './script.ts';

interface ToolRule {
  /** The rule applies to messages that match this. */
  when: RegExp;
  calls: (match: RegExpExecArray) => Call[];
  /** The answer once all calls have succeeded; the outcomes are in the order of the calls. */
  answer: (outcomes: ToolOutcome[]) => string;
}

/**
 * A rule for tools named `<server>__<tool>`: connects the server first if its tools are not known yet, makes the calls in
 * parallel, and answers with their results or errors.
 */
export function toolRule({ when, calls, answer }: ToolRule): Rule {
  return (conversation) => {
    const match = when.exec(conversation.userText);
    if (!match) return null;
    const wanted = calls(match).map((call) => ({ call, outcome: outcomeOf(call, conversation) }));
    const open = wanted.filter(({ outcome }) => outcome === undefined).map(({ call }) => call);
    if (open.length > 0) return attempt(open, conversation);

    const outcomes = wanted.flatMap(({ outcome }) => outcome ?? []);
    const failed = outcomes.filter(({ ok }) => !ok);
    return { say: failed.length > 0 ? apology(failed) : answer(outcomes) };
  };
}

function attempt(open: Call[], conversation: Conversation): Move {
  const calls: Call[] = [];
  const problems: string[] = [];
  for (const call of open) {
    if (conversation.tools.includes(call.tool)) {
      calls.push(call);
      continue;
    }
    const connect = { tool: `connect_${call.tool.split('__', 1)[0]}`, input: {} };
    const connected = outcomeOf(connect, conversation);
    if (connected && !connected.ok) problems.push(apology([connected]));
    else if (connected || !conversation.tools.includes(connect.tool))
      problems.push(`I have no tool called ${call.tool}.`);
    else if (!calls.some(({ tool }) => tool === connect.tool)) calls.push(connect);
  }
  return calls.length > 0 ? { calls } : { say: [...new Set(problems)].join('\n\n') };
}

function outcomeOf(call: Call, { outcomes }: Conversation): ToolOutcome | undefined {
  return outcomes.find(({ tool, input }) => tool === call.tool && isDeepStrictEqual(input, call.input ?? {}));
}

/** Equal errors are reported once. */
function apology(failed: ToolOutcome[]): string {
  return [...new Set(failed.map(({ text }) => errorForUser(text)))].join('\n\n');
}

/**
 * How the scripted model reports tool errors. They are written for models ("the user chose not to…"), so they are rephrased for
 * the user, as a language model would do.
 */
const phrases: [when: RegExp, say: (server: string) => string][] = [
  [
    /chose not to/,
    (server) =>
      `All right, I will leave your ${server} account alone. Ask me again whenever you change your mind.`,
  ],
  [
    /dismissed the question/,
    (server) => `You closed the question about ${server}, so I did nothing. Ask me again when it suits you.`,
  ],
  [
    /before the question expired/,
    (server) =>
      `Nobody connected ${server} in time, so the question expired. Ask me again and I will send a new one.`,
  ],
  [
    /too many open ones/,
    (server) =>
      `${server} has a question, but you have too many open ones already. Please answer those, then ask me again.`,
  ],
  [
    /as many are open in this turn/,
    (server) =>
      `${server} has a question, but too many others were open at the time. Ask me again, and I will try once more.`,
  ],
  [
    /nobody was asked/,
    (server) => `I would need your ${server} account for this, but I cannot ask you for it from here.`,
  ],
  [
    /still refuses it/,
    (server) =>
      `${server} is connected, but it refuses your account. Please check that the account may do this.`,
  ],
  [
    /is unknown whether the action took place/,
    (server) =>
      `${server} never answered, so I cannot tell whether it happened. Please look in ${server} before we try again.`,
  ],
];

/** The texts before and after the server's name; an empty one is the beginning. */
const serverNames = [
  ['their ', ' account'],
  ["user's ", ' account'],
  ['connect ', '. The tool'],
  ['', ' was called'],
  ['', ' had a question'],
] as const;

/** Sentences with instructions for the model, which the user does not need. */
const instruction = /^(The tool did not run|Tell|Offer|Respect|Ask the user|Check)\b/;

export function errorForUser(errorText: string): string {
  const server = serverNames
    .map(([before, after]) => between(errorText, before, after))
    .find((name) => name !== undefined);
  const phrase = phrases.find(([when]) => when.test(errorText))?.[1];
  if (phrase && server !== undefined) return [phrase(server), ...whereToConnect(errorText)].join(' ');
  const facts = errorText.split(/(?<=[.!?])\s+/).filter((sentence) => !instruction.test(sentence));
  return ['Sorry, that did not work.', ...facts].join(' ');
}

/** The address in an error is that of the user's connections. */
function whereToConnect(errorText: string): string[] {
  const address = / at (https?:\/\/\S+\/connections)\b/.exec(errorText)?.[1];
  return address === undefined ? [] : [`You can connect it at ${address} at any time.`];
}

/** The single-line text between the two. Without a regular expression, because texts of servers may be long. */
function between(text: string, before: string, after: string): string | undefined {
  const start = text.indexOf(before) + before.length;
  const end = text.indexOf(after, start + 1);
  const found = text.slice(start, end);
  return text.includes(before) && end !== -1 && !found.includes('\n') ? found : undefined;
}
