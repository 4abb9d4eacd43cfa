/** `@interlude-ai/kit/vitest`: adds the matchers to the `expect` of vitest 5. Import it once, in a set-up file or a test. */
import { expect } from 'vitest';
import { matchers } from './matchers/matchers.ts';
import type { ToolCallMatchers } from './matchers/matchers.ts';

declare module 'vitest' {
  // The parameters must be those of vitest's own declaration.
  interface Matchers<
    R extends void | Promise<void> = void | Promise<void>,
    T = unknown,
  > extends ToolCallMatchers<R> {}
}

expect.extend(matchers);
