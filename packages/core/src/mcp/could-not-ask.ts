/** Recognises tools that ask in the way of the other era than the one that they were called in. Pure. */

/**
 * What SDKs answer when a tool asks in the way of the other era (TypeScript, Python, Go, mcp-go, rmcp, FastMCP). There is
 * no code for it, only the text of an error or of a failed result.
 */
const asksInOtherEra =
  /server[- ](?:initiated|to[- ]client) requests?|elicitation\/create|url elicitation cannot be signalled|input_?required|multi[- ]?round[- ]?trip/i;

export function couldNotAsk(answer: object): boolean {
  const { error, result } = answer as {
    error?: { message?: unknown };
    result?: { isError?: unknown; content?: unknown } | null;
  };
  if (error) return asksInOtherEra.test(String(error.message));
  if (result?.isError !== true || !Array.isArray(result.content)) return false;
  return (result.content as ({ text?: unknown } | null)[]).some((part) => {
    const text = part?.text;
    return typeof text === 'string' && text.length < longestError && asksInOtherEra.test(text);
  });
}

/** A longer text is not an error message of an SDK. */
const longestError = 1_000;
