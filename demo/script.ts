/**
 * What the demo's model says: enough English to work with Tracker and the Travel Desk. Put a real model into
 * agents.yaml and these files are out of the picture; nothing else changes.
 */
import { defineScript } from '../src/models/scripted/script.ts';
import type { Rule } from '../src/models/scripted/script.ts';
import { readRules, trackerAbility, writeRules } from './script/tracker.ts';
import { travelAbility, travelRules } from './script/travel.ts';

const listOf = (sentences: string[]) => sentences.map((sentence) => `- ${sentence}`).join('\n');
const ability = `I can work with your issues in Tracker and book travel at the Travel Desk. For example:

${listOf(trackerAbility)}
${listOf(travelAbility)}`;

const smallTalk: [when: RegExp, say: string][] = [
  [/^(hi|hello|hey|good (morning|afternoon|evening))\b/i, `Hello! ${ability}`],
  [/\b(thanks|thank you|cheers)\b/i, 'You are welcome.'],
  [/\b(bye|goodbye|good night)\b/i, 'Goodbye. Your issues will wait for you.'],
  [
    /\bwho are you\b|\bwhat are you\b/i,
    `I am the demo’s assistant: a script, not a language model. ${ability}`,
  ],
];

const talk: Rule = ({ userText }) => {
  const found = smallTalk.find(([when]) => when.test(userText));
  return found ? { say: found[1] } : null;
};

const help: Rule = ({ userText }) => ({
  say: /\b(help|what can you do)\b/i.test(userText) ? ability : `I did not get that. ${ability}`,
});

export const script = defineScript([...writeRules, ...travelRules, ...readRules, talk, help]);
