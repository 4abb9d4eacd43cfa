import { expect, test } from 'vitest';
import { publicUrlWarning } from '../../../src/platform/processes/api-process.ts';

test.each(['http://chat.example', 'http://chat.example:8080/interlude', 'http://93.184.216.34'])(
  'an operator is warned of %s, which everybody on the way can read',
  (publicUrl) => {
    expect(publicUrlWarning(publicUrl)).toMatch(/^PUBLIC_URL is http on a public host: .* write https$/);
  },
);

test.each([
  'https://chat.example',
  'http://127.0.0.1:3000',
  'http://localhost:3000',
  'http://10.1.2.3',
  'http://interlude.internal',
])('%s is fine', (publicUrl) => expect(publicUrlWarning(publicUrl)).toBeNull());
