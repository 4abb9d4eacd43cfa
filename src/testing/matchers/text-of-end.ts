/** The end of a call as one text: what matchers compare with, and what their messages quote. */
import type { CallEnd } from '../call/call-events.ts';

export function textOfEnd(end: CallEnd): string {
  switch (end.kind) {
    case 'result': {
      const texts = end.result.content.map((block) =>
        block.type === 'text' ? block.text : `[${block.type}]`,
      );
      const { structuredContent } = end.result;
      return [...texts, ...(structuredContent ? [JSON.stringify(structuredContent)] : [])].join('\n');
    }
    case 'error':
      return end.message;
    case 'unanswered':
      return end.reason;
    case 'fault':
      return end.fault.message;
    case 'timeout':
      return end.of === 'silence'
        ? `nothing for ${end.afterMs / 1000} seconds`
        : `no result within ${end.afterMs / 1000} seconds`;
    case 'stopped':
      return 'stopped by its caller';
    default:
      return end satisfies never;
  }
}
