/** Before every test file: what one remembers of its servers must not be said of another's, which get the same ports. */
import { forgetEras } from '../../src/remote/mcp/era-cache.ts';

forgetEras();
