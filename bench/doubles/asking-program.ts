/** A server that asks, as a program to be spoken to over its standard input and output. */
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { buildAsking } from './asking-tools.ts';

await buildAsking().connect(new StdioServerTransport());
