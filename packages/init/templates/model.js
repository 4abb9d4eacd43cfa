/** A model without a key: rules instead of a language model. For a real one, change `model` in agents.yaml. */
const numbers = { two: 2, three: 3, four: 4, five: 5, six: 6 };

export const script = {
  wordDelayMs: 12,
  rules: [
    ({ outcomes }) => {
      const last = outcomes.at(-1);
      return last ? { say: last.ok ? last.text : `That did not work: ${last.text}` } : null;
    },
    ({ userText }) => {
      if (!/table/i.test(userText)) return null;
      const [word = 'two'] = /\d+|two|three|four|five|six/i.exec(userText) ?? [];
      const people = Number(word) || numbers[word.toLowerCase()];
      return { calls: [{ tool: 'book_table', input: { people } }] };
    },
    () => ({ say: 'I am a script, not a language model. Say: “Book a table for four.”' }),
  ],
};
