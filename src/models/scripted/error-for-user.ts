/**
 * A tool's error in the words of a friendly assistant. Tool errors are written for models ("the user chose not
 * to…"); a language model turns them around when it speaks to the user, and so does the scripted one.
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

/** What stands before and after the server's name; no text before it: it begins the sentence. */
const serverNames = [
  ['their ', ' account'],
  ["user's ", ' account'],
  ['connect ', '. The tool'],
  ['', ' was called'],
  ['', ' had a question'],
] as const;

/** Sentences that tell the model what to do, and are of no use to the user. */
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

/** The address in an error is of the user's connections. */
function whereToConnect(errorText: string): string[] {
  const address = / at (https?:\/\/\S+\/connections)\b/.exec(errorText)?.[1];
  return address === undefined ? [] : [`You can connect it at ${address} at any time.`];
}

/** On one line, and something; texts of servers are long, so that no pattern looks for it. */
function between(text: string, before: string, after: string): string | undefined {
  const start = text.indexOf(before) + before.length;
  const end = text.indexOf(after, start + 1);
  const found = text.slice(start, end);
  return text.includes(before) && end !== -1 && !found.includes('\n') ? found : undefined;
}
