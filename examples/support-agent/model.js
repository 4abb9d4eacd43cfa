/** Rules instead of language models, for both agents: needs no key. MODEL=openai:gpt-5 takes their place. */
const resultOf = (outcomes, tool) => outcomes.find((one) => one.tool === tool);

function support({ userText, outcomes }) {
  const [order] = /\b\d{4}\b/.exec(userText) ?? [];
  if (!order || !/refund|money back/i.test(userText))
    return { say: 'Say “The customer of order 1042 wants a refund.” There are 1042, 1043 and 1044.' };
  const failed = outcomes.find(({ ok }) => !ok);
  if (failed) return { say: `Nothing was refunded. ${failed.text}` };
  if (!resultOf(outcomes, 'find_order')) return { calls: [{ tool: 'find_order', input: { order } }] };
  const policy = resultOf(outcomes, 'agent__policy');
  const task = `May order ${order} be refunded, and how much?`;
  if (!policy) return { calls: [{ tool: 'agent__policy', input: { task } }] };
  const [, euros] = /up to (\d+) euros/.exec(policy.text) ?? [];
  if (!euros) return { say: `Nothing was refunded. ${policy.text}` };
  const asked = resultOf(outcomes, 'ask_reason');
  if (!asked) return { calls: [{ tool: 'ask_reason', input: { order } }] };
  if (!asked.data?.reason) return { say: `Nothing was refunded. ${asked.text}` };
  const input = { order, euros: Number(euros), reason: asked.data.reason };
  return resultOf(outcomes, 'refund')
    ? { say: resultOf(outcomes, 'refund').text }
    : { calls: [{ tool: 'refund', input }] };
}

function policy({ userText, outcomes }) {
  const [order] = /\b\d{4}\b/.exec(userText) ?? [];
  const found = resultOf(outcomes, 'find_order');
  if (!found) return { calls: [{ tool: 'find_order', input: { order } }, { tool: 'read_policy' }] };
  const { euros, daysSinceDelivery: days } = found.data;
  if (days > 30) return { say: `No: it was delivered ${days} days ago, and the policy allows 30.` };
  return { say: `Yes, up to ${euros} euros: it was delivered ${days} days ago, within 30.` };
}

export const script = {
  wordDelayMs: 12,
  rules: [
    (conversation) =>
      conversation.tools.includes('read_policy') ? policy(conversation) : support(conversation),
  ],
};
