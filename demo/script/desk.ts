/** Working at the Desk, whose tools are in TypeScript and ask the user themselves. */
import type { Rule, ToolOutcome } from '../../src/models/scripted/script.ts';
import { toolRule } from '../../src/models/scripted/tool-rule.ts';

export const deskAbility = [
  'Delete the page “Old roadmap”.',
  'Welcome a new member.',
  'Change my digest.',
  'Pay an invoice.',
  'Look around.',
];

const aPage =
  /\b(?:delete|remove|throw away)\b.*?\bpage\b\s*(?:called|named|titled)?\s*["“„']?([^"”“'.?!]+)/is;
const aMember = /\b(?:welcome|add|invite|onboard)\b.*\b(?:member|colleague|person|somebody|someone)\b/is;
const aDigest = /\bdigest\b/i;
const anInvoice = /\b(?:pay|settle)\b.*\b(?:invoice|bill)s?\b/is;
const around =
  /\blook around\b|\bwhat is (?:there|on the desk)\b|\b(?:list|show)\b.*\b(?:pages|members|invoices|wiki)\b/i;

/** Its tools write their results for people. */
const retold = ([outcome]: ToolOutcome[]) => outcome?.text ?? '';

const atTheDesk: Rule[] = [
  toolRule({
    when: aPage,
    calls: ([, page = '']) => [{ tool: 'delete_page', input: { page: page.trim() } }],
    answer: retold,
  }),
  toolRule({ when: aMember, calls: () => [{ tool: 'welcome_member', input: {} }], answer: retold }),
  toolRule({ when: aDigest, calls: () => [{ tool: 'plan_digest', input: {} }], answer: retold }),
  toolRule({
    when: anInvoice,
    calls: ({ input }) => {
      const [id] = /\bI-\d+\b/i.exec(input) ?? [];
      return [{ tool: 'pay_invoice', input: id === undefined ? {} : { invoice: id.toUpperCase() } }];
    },
    answer: retold,
  }),
  toolRule({ when: around, calls: () => [{ tool: 'read_desk', input: {} }], answer: listed }),
];

export const isDesk = (tools: readonly string[]) => tools.includes('read_desk');

/** Elsewhere, such a wish is told where to go. */
const elsewhere: Rule = ({ userText }) =>
  [aPage, aMember, aDigest, anInvoice].some((wish) => wish.test(userText))
    ? { say: 'That is for the Desk: choose the agent **desk**, and ask again.' }
    : null;

export const deskRules: Rule[] = [
  ...atTheDesk.map(
    (rule): Rule =>
      (conversation) =>
        isDesk(conversation.tools) ? rule(conversation) : null,
  ),
  (conversation) => (isDesk(conversation.tools) ? null : elsewhere(conversation)),
];

interface DeskState {
  pages: { title: string; changedBy: string }[];
  members: { name: string; team: string }[];
  digest: { every: string; topics: string[]; hour: number };
  invoices: { id: string; from: string; euros: number; paidAt: string | null }[];
}

function listed([outcome]: ToolOutcome[]): string {
  const { pages, members, digest, invoices } = JSON.parse(outcome?.text ?? '') as DeskState;
  const lines = (items: string[]) => (items.length === 0 ? 'none' : items.join('; '));
  return [
    `- **Wiki:** ${lines(pages.map(({ title }) => title))}`,
    `- **Members:** ${lines(members.map(({ name, team }) => `${name} (${team})`))}`,
    `- **Digest:** every ${digest.every} at ${digest.hour}:00, with ${lines(digest.topics)}`,
    `- **Invoices:** ${lines(invoices.map(({ id, from, euros, paidAt }) => `${id} of ${from}, ${euros} €, ${paidAt === null ? 'open' : 'paid'}`))}`,
  ].join('\n');
}
