/**
 * What the demo's model says: enough English to work with Tracker, the Travel Desk and the Desk. Put a real model into
 * agents.yaml and these files are out of the picture; nothing else changes.
 */
import { defineScript } from '../src/models/scripted/script.ts';
import type { Rule } from '../src/models/scripted/script.ts';
import { deskAbility, deskRules, isDesk } from './script/desk.ts';
import { flightRules } from './script/flights.ts';
import { readRules, trackerAbility, writeRules } from './script/tracker.ts';
import { closeAndBook, travelAbility, travelRules } from './script/travel.ts';

const listOf = (sentences: string[]) => sentences.map((sentence) => `- ${sentence}`).join('\n');
const ability = `I can work with your issues in Tracker and book travel at the Travel Desk. For example:

${listOf(trackerAbility)}
${listOf(travelAbility)}
- Find me a flight to Lisbon.`;

const abilityAtDesk = `I look after the office: its wiki, its members, your digest and the invoices. For example:

${listOf(deskAbility)}`;

const abilityOf = (tools: readonly string[]) => (isDesk(tools) ? abilityAtDesk : ability);

const smallTalk: [when: RegExp, say: string | ((ability: string) => string)][] = [
  [/^(hi|hello|hey|good (morning|afternoon|evening))\b/i, (can) => `Hello! ${can}`],
  [/\b(thanks|thank you|cheers)\b/i, 'You are welcome.'],
  [/\b(bye|goodbye|good night)\b/i, 'Goodbye. Your work will wait for you.'],
  [
    /\bwho are you\b|\bwhat are you\b/i,
    (can) => `I am the demo’s assistant: a script, not a language model. ${can}`,
  ],
];

const talk: Rule = ({ userText, tools }) => {
  const [, say] = smallTalk.find(([when]) => when.test(userText)) ?? [];
  if (say === undefined) return null;
  return { say: typeof say === 'string' ? say : say(abilityOf(tools)) };
};

/** For an image with words that no other rule knows, or without words. */
const look: Rule = ({ images }) => {
  if (images.length === 0) return null;
  const shown = images.map(({ mediaType, bytes }) => {
    const type = mediaType.replace('image/', '').toUpperCase();
    return `${type} of ${Math.max(1, Math.round(bytes / 1000))} kB`;
  });
  const what = images.length === 1 ? 'your image' : `your ${images.length} images`;
  return {
    say: `I have got ${what} (${shown.join(', ')}). I am a script and cannot see what ${images.length === 1 ? 'it shows' : 'they show'}; a real model can.`,
  };
};

const help: Rule = ({ userText, tools }) => {
  const can = abilityOf(tools);
  return { say: /\b(help|what can you do)\b/i.test(userText) ? can : `I did not get that. ${can}` };
};

export const script = defineScript([
  ...deskRules,
  ...flightRules,
  closeAndBook,
  ...writeRules,
  ...travelRules,
  ...readRules,
  look,
  talk,
  help,
]);
