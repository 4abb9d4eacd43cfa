/** Rules instead of a language model: needs no key. MODEL=openai:gpt-5 takes their place. */
export const script = {
  wordDelayMs: 12,
  rules: [
    ({ outcomes }) => (outcomes.length > 0 ? { say: outcomes.at(-1).text } : null),
    ({ userText }) =>
      /table/i.test(userText) ? { calls: [{ tool: 'restaurant__book_table', input: { people: 4 } }] } : null,
    () => ({ say: 'Say “Book a table for four.”' }),
  ],
};
