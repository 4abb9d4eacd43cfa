import { keySet } from '../../../lib/tokens.ts';

export const dynamic = 'force-dynamic';
export const GET = async () => Response.json(await keySet());
