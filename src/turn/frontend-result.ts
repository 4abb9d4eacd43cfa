/** The result of a tool of the front end, as the content of a form. Pure. */

export const longestFrontendResult = 100_000;

export const frontendResultForm = {
  type: 'object',
  properties: {
    result: {
      type: 'string',
      title: 'Result',
      description: 'What the tool returned',
      maxLength: longestFrontendResult,
    },
    failed: { type: 'boolean', title: 'The tool failed', default: false },
  },
};

export interface FrontendResult {
  text: string;
  isError: boolean;
}

export function toFrontendContent({ text, isError }: FrontendResult): Record<string, unknown> {
  return { result: text, failed: isError };
}

export function frontendResultIn({ result, failed }: Record<string, unknown>): FrontendResult {
  return { text: typeof result === 'string' ? result : '', isError: failed === true };
}
