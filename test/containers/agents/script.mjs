/**
 * Deletes the page that the user names, and says what came of it.
 * @type {import('../../../src/models/scripted/script.ts').Rule}
 */
const remove = ({ userText, tools, outcomes }) => {
  const [outcome] = outcomes;
  if (outcome) return { say: outcome.ok ? 'Done.' : 'Failed.' };
  const page = /^delete (.+)$/.exec(userText)?.[1];
  const tool = tools.find((name) => name.endsWith('delete_page'));
  return page && tool ? { calls: [{ tool, input: { page } }] } : { say: 'What?' };
};

export const script = { rules: [remove], wordDelayMs: 0 };
