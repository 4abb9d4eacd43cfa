/**
 * Rewrites the error of a tool call for the user. The log contains the text for the model, which speaks of "the user" and
 * says what to tell them. Only sentences that begin like our own are rewritten; a server's own text stays unchanged.
 */
export function forPeople(text: string): string {
  const sentences = text.split(/(?<=[.!?]) /).flatMap(turnedAround);
  return sentences.length > 0 ? sentences.join(' ') : text;
}

/** How our sentences begin, for the model and for people; null if people do not need the sentence. */
const beginnings: [model: string, people: string | null][] = [
  ['Respect that', null],
  ['Go on without it', null],
  ['The operator ', null],
  ['Tell the user what ', null],
  ['Tell the user that ', ''],
  ['Tell the user to ', ''],
  ['Ask the user to ', ''],
  ['Offer to ', 'You can '],
  ['The user was asked to ', 'You were asked to '],
  ['The user already has ', 'You already have '],
  ['The user connected ', 'You connected '],
  ['The user can connect ', 'You can connect '],
  ["This needs the user's ", 'This needs your '],
];

function turnedAround(sentence: string): string[] {
  for (const [model, people] of beginnings) {
    if (!sentence.startsWith(model)) continue;
    if (people === null) return [];
    const rest = sentence
      .slice(model.length)
      .replaceAll(/\b(?:their|the user's)\b/g, 'your')
      .replaceAll(/\b(?:they|the user)\b/g, 'you')
      .replace('and that you', 'and you');
    return [capitalised(people + rest)];
  }
  return [
    sentence
      .replace(', and tell the user.', '.')
      .replace('but the user already has too many', 'but you already have too many'),
  ];
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
