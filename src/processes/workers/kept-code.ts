/** Workflow code in the database, for any worker to run: packed and sealed, so that write access is not enough to run code. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { openCode, sealCode } from '../../credentials/sealing/sealed-code.ts';
import type { KeptCode } from '../../storage/ports/workflow-code.ts';
import type { Dependencies } from '../dependencies.ts';

type Parts = Pick<Dependencies, 'storage' | 'keys'>;

/** Content is JSON. */
export interface Code<Content> extends KeptCode {
  content: Content;
}

const maxBytes = 10 * 1024 * 1024;

/** Throws when it is too large to be kept: calls that begin with it could not go on after the next deploy. */
export async function keepCode<Content>(
  { storage, keys }: Parts,
  { content, ...code }: Code<Content>,
): Promise<void> {
  const text = JSON.stringify(content);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes)
    throw new CodeTooLarge(
      `The code ${code.id} has ${(bytes / 1024 / 1024).toFixed(1)} MB, and at most ${maxBytes / 1024 / 1024} MB can be kept. Import less in the files of the tools.`,
    );
  await storage.workflowCode.keep({
    ...code,
    sealed: sealCode(keys, code.id, gzipSync(text).toString('base64')),
  });
}

/** Null when it is not there (any more). Throws a `SealingError` for what this installation has not sealed. */
export async function readCode<Content>({ storage, keys }: Parts, id: string): Promise<Code<Content> | null> {
  const row = await storage.workflowCode.get(id);
  if (!row) return null;
  const { sealed, ...code } = row;
  const text = gunzipSync(Buffer.from(openCode(keys, id, sealed), 'base64'), { maxOutputLength: maxBytes });
  return { ...code, content: JSON.parse(text.toString('utf8')) as Content };
}

class CodeTooLarge extends Error {
  override name = 'CodeTooLarge';
}
