import { testServer } from './mcp-servers.ts';

/** Installs the SDK of MCP for Python. */
testServer('mcp-server-python');
