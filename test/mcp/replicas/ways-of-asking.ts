/** A wizard run by clients of the SDKs, in each way in which its questions can come to a person. */
import { Client as ClientV2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Line } from './replicas.ts';

export interface Wizard {
  id: string;
  steps: number;
  /** When the nth word is asked for, from 1, before it is said. */
  atStep?: (step: number) => Promise<unknown>;
}

/** Of a client whose call is one request, however long its user takes. Its SDK gives up after a minute otherwise. */
const patienceMs = 200_000;

/** What its call came to, in the words of the result. */
export type RunWizard = (line: Line, wizard: Wizard) => Promise<string>;

export const ways: Record<'input-required' | 'pushed' | 'in words', RunWizard> = {
  async 'input-required'(line, wizard) {
    const client = new ClientV2(
      { name: 'modern', version: '1' },
      {
        capabilities: { elicitation: { form: {}, url: {} } },
        versionNegotiation: { mode: 'auto' },
        inputRequired: { maxRounds: 40 },
      },
    );
    client.setRequestHandler('elicitation/create', ({ params }) => wordFor(params.message, wizard));
    await client.connect(new StreamableHTTPClientTransport(line.url, optionsOf(line)));
    try {
      return textOf(await client.callTool(callOf(wizard)));
    } finally {
      await client.close();
    }
  },

  async pushed(line, wizard) {
    const client = new ClientV1({ name: 'legacy', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => wordFor(params.message, wizard));
    // The SDK's own types do not agree under exactOptionalPropertyTypes.
    const transport = new TransportV1(line.url, optionsOf(line)) as Parameters<typeof client.connect>[0];
    await client.connect(transport);
    try {
      return textOf(await client.callTool(callOf(wizard), undefined, { timeout: patienceMs }));
    } finally {
      await client.close();
    }
  },

  async 'in words'(line, wizard) {
    const client = new ClientV2(
      { name: 'words', version: '1' },
      { versionNegotiation: { mode: 'auto' }, inputRequired: { maxRounds: 40 } },
    );
    await client.connect(new StreamableHTTPClientTransport(line.url, optionsOf(line)));
    try {
      let result = await client.callTool(callOf(wizard));
      for (;;) {
        const pending = result._meta?.['elicitationPending'] as
          | { elicitId: string; message: string }
          | undefined;
        if (!pending) return textOf(result);
        const { action, content } = await wordFor(pending.message, wizard);
        result = await client.callTool({
          name: 'sendElicitationResult',
          arguments: { elicitId: pending.elicitId, action, content },
        });
      }
    } finally {
      await client.close();
    }
  },
};

export const wordsOf = ({ steps }: Pick<Wizard, 'steps'>) =>
  Array.from({ length: steps }, (_, index) => `w${index + 1}`).join(' ');

const callOf = ({ id, steps }: Wizard) => ({
  name: 'ask_assistant',
  arguments: { message: `call wizard__run ${JSON.stringify({ id, steps })}` },
});

const optionsOf = ({ fetch, headers }: Line) => ({ fetch, requestInit: { headers } });

async function wordFor(message: string, { id, atStep }: Wizard) {
  const [, asked, step] = /([\w-]+): word (\d+)/.exec(message) ?? [];
  if (asked !== id) throw new Error(`${id} was asked for another: ${message}`);
  await atStep?.(Number(step));
  return { action: 'accept' as const, content: { word: `w${step}` } };
}

function textOf(result: object): string {
  const { content } = result as { content: { type: string; text: string }[] };
  return content[0]?.text ?? '';
}
