import { testServer } from './mcp-servers.ts';

testServer('mcp-server-ts');
