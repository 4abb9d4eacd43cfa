/** Codes of tools in the database, for any worker to run: packed, and sealed, so that who writes there cannot run code. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { openBundle, sealBundle } from '../../credentials/sealing/sealed-tools.ts';
import type { ToolBundle } from '../../tool-bundles/tool-bundle.ts';
import type { Dependencies } from '../dependencies.ts';

type Parts = Pick<Dependencies, 'storage' | 'keys'>;

export async function keepBundle({ storage, keys }: Parts, bundle: ToolBundle): Promise<void> {
  const packed = gzipSync(JSON.stringify(bundle)).toString('base64');
  await storage.toolBundles.keep({ hash: bundle.hash, sealed: sealBundle(keys, bundle.hash, packed) });
}

/** Null when it is not there (any more). Throws a `SealingError` for what we have not sealed. */
export async function readBundle({ storage, keys }: Parts, hash: string): Promise<ToolBundle | null> {
  const row = await storage.toolBundles.get(hash);
  if (!row) return null;
  const packed = Buffer.from(openBundle(keys, hash, row.sealed), 'base64');
  return JSON.parse(gunzipSync(packed).toString('utf8')) as ToolBundle;
}
