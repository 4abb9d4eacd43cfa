/** Rules instead of a language model: needs no key. MODEL=openai:gpt-5 takes their place. */
export const script = {
  wordDelayMs: 12,
  rules: [
    ({ outcomes }) => (outcomes.length > 0 ? { say: outcomes.at(-1).text } : null),
    ({ userText }) => {
      const [number] = /\bT\d+\b/.exec(userText) ?? [];
      if (number && /cancel/i.test(userText)) return { calls: [{ tool: 'cancel_table', input: { number } }] };
      return /table/i.test(userText) ? { calls: [{ tool: 'book_table', input: { people: 4 } }] } : null;
    },
    () => ({ say: 'Say “Book a table for four.”, or “Cancel T4.”' }),
  ],
};
