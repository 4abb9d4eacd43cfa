/**
 * The documentation as a site: `npm run site` builds it into `dist/site`, with search, `llms.txt` and each page as markdown.
 * Its pages are the markdown files of the repository, and the same links work in both.
 */
import path from 'node:path';
import { defineConfig } from 'vitepress';
import llms from 'vitepress-plugin-llms';

const root = path.resolve(import.meta.dirname, '../..');

/** Reader → pages: titles and their files in `docs/`. */
const readers: Record<string, Record<string, string>> = {
  Begin: {
    'Your first agent': 'guides/first-agent',
    'A real model': 'guides/real-model',
    'Ask from your own tool': 'guides/own-tool',
    'Connect accounts': 'guides/accounts',
    'Ask before it acts': 'guides/approvals',
    'Put it into your page': 'guides/page',
    'Try it in Slack': 'guides/slack',
    'Call it from other agents': 'guides/other-agents',
    'Sign-in for your users': 'guides/sign-in',
    'Go to production': 'guides/production',
    Concepts: 'guides/concepts',
    Troubleshooting: 'guides/troubleshooting',
    Messages: 'messages',
  },
  'Embed agents': {
    'Any web page': 'widget',
    useChat: 'chat',
    streamText: 'ai-sdk',
    'OpenAI clients': 'openai',
    'AG-UI': 'ag-ui',
    'TypeScript client': 'client',
    HTTP: 'http',
    Feed: 'feed',
    Slack: 'slack',
  },
  'Write agents and tools': {
    'Agents file': 'agents',
    'Tools that ask': 'tools',
    'init and dev': 'dev',
    'MCP servers': 'mcp',
    Accounts: 'connections',
    Providers: 'providers',
    Nango: 'nango',
    Approvals: 'approvals',
    'Tests of agents': 'testing-agents',
    'Tests of servers': 'testing-servers',
    Examples: 'examples',
  },
  'Agents of your own': {
    'MCP clients': 'mcp-server',
    A2A: 'a2a',
    'Questions in A2A': 'a2a-elicitation',
    'Editors (ACP)': 'acp',
  },
  'Operate it': {
    Operating: 'operating',
    Configuration: 'configuration',
    Deploying: 'deploying',
    Doctor: 'doctor',
    Limits: 'limits',
    Kubernetes: 'kubernetes',
    Restoring: 'restoring',
    Retention: 'retention',
    Operators: 'operators',
    'Temporal’s UI': 'temporal-ui',
    Telemetry: 'telemetry',
    Metrics: 'metrics',
    Logs: 'logs',
    Security: 'security',
    'What is stable': 'stability',
    Commands: 'commands',
  },
  'How good it is': {
    Performance: 'performance',
    Scaling: 'scaling',
    'MCP conformance': 'mcp-conformance',
    'MCP peers': 'mcp-peers',
    'A2A conformance': 'a2a-conformance',
    'Tried with': 'counterparts',
    'Release results': 'release-results',
  },
  'Change it': { Architecture: 'architecture', Decisions: 'decisions/README' },
};

export default defineConfig({
  title: 'Interlude',
  description: 'Agent turns that can stop, ask a person, and go on',
  srcDir: root,
  srcExclude: ['{src,test,packages,demo,examples,bench,scripts,deploy,dist,build,skills}/**'],
  rewrites: { 'docs/index.md': 'index.md' },
  outDir: path.join(root, 'dist/site'),
  cacheDir: path.join(root, 'node_modules/.cache/vitepress'),
  cleanUrls: true,
  ignoreDeadLinks: [/LICENSE$/],
  markdown: { languageAlias: { promql: 'sql', gotmpl: 'yaml' } },
  vite: { plugins: [llms()] },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Overview', link: '/README' },
      { text: 'Commands', link: '/docs/commands' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar: Object.entries(readers).map(([text, pages]) => ({
      text,
      items: Object.entries(pages).map(([title, name]) => ({ text: title, link: `/docs/${name}` })),
    })),
  },
});
