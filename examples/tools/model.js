/** Rules instead of a language model: needs no key. MODEL=openai:gpt-5 takes their place. */
const wishes = [
  [/delete.*page "?([^".]+)/i, ([, page]) => ({ tool: 'delete_page', input: { page } })],
  [
    /(\S+@\w+\.\w+).*page "?([^".]+)/i,
    ([, guest, page]) => ({ tool: 'grant_access', input: { guest, page } }),
  ],
  [/teams/i, () => ({ tool: 'list_teams' })],
  [/digest/i, () => ({ tool: 'plan_digest', input: { project: 'Atlas' } })],
  [/welcome/i, () => ({ tool: 'welcome_member' })],
];

export const script = {
  wordDelayMs: 12,
  rules: [
    ({ outcomes }) => (outcomes.length > 0 ? { say: outcomes.at(-1).text } : null),
    ({ userText }) => {
      const [when, call] = wishes.find(([one]) => one.test(userText)) ?? [];
      return when ? { calls: [call(when.exec(userText))] } : null;
    },
    () => ({
      say: 'Say “Delete the page Home”, “ada@example.com wants the page Home”, “List the teams”, “Change my digest” or “Welcome a new member”.',
    }),
  ],
};
