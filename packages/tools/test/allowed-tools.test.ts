/** What agents are allowed of a folder is checked when a worker starts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { openAgentBundles } from '../../../src/platform/tool-bundles/open-agent-bundles.ts';

const tools = path.resolve(import.meta.dirname, '../../../examples/tools/tools');

test('a misspelt tool is a mistake that names agent, tool and what was meant', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-allowed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const agents = path.join(folder, 'agents.yaml');
  await writeFile(
    agents,
    `providers: { scripted: { script: ./script.ts } }
agents: { assistant: { model: scripted, tools: { folder: ${JSON.stringify(tools)}, allow: [delete_pages] } } }
`,
  );
  const opening = openAgentBundles(loadConfig({ INTERLUDE_CONFIG: agents }, folder));
  await expect(opening).rejects.toThrow(
    /agents\.assistant\.tools\.allow: there is no tool "delete_pages" in the folder.*delete_page.*pay_invoice/s,
  );
});
