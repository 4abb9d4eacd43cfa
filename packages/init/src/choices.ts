/** What a person chooses for a new folder, and what is wrong with a choice. */

export interface Choices {
  /** `scripted`, or a provider and its model. */
  model: string;
  /** `none`, or the address of an MCP server. */
  server: string;
  /** `demo`, or the address of an OpenID provider. */
  issuer: string;
  clientId: string | undefined;
  /** Of the model, for `.env`. */
  key: string | undefined;
}

const builtIn: Record<string, string> = { openai: 'OPENAI_API_KEY', anthropic: 'ANTHROPIC_API_KEY' };
/** What these packages of the AI SDK read by themselves. */
const ofPackages: Record<string, string> = {
  '@ai-sdk/google': 'GOOGLE_GENERATIVE_AI_API_KEY',
  '@ai-sdk/azure': 'AZURE_API_KEY',
  '@ai-sdk/amazon-bedrock': 'AWS_BEARER_TOKEN_BEDROCK',
  '@ai-sdk/mistral': 'MISTRAL_API_KEY',
  '@ai-sdk/xai': 'XAI_API_KEY',
  '@ai-sdk/groq': 'GROQ_API_KEY',
  '@openrouter/ai-sdk-provider': 'OPENROUTER_API_KEY',
};

const packageName = /^(?:@[\w~-][\w.~-]*\/[\w~-][\w.~-]*|[a-z0-9]+(?:-[\w.]+)+)$/;

function providerOf(model: string): string {
  return model.split(':', 1)[0] ?? '';
}

/** The package of the AI SDK that the model needs besides those of the service. */
export function packageOf(model: string): string | undefined {
  const provider = providerOf(model);
  return packageName.test(provider) ? provider : undefined;
}

export function keyVariableOf(model: string): string | undefined {
  return builtIn[providerOf(model)] ?? ofPackages[providerOf(model)];
}

export function modelProblem(model: string): string | undefined {
  if (model === 'scripted') return undefined;
  const provider = providerOf(model);
  const isKnown = provider in builtIn || (packageName.test(provider) && provider !== 'openai-compatible');
  if (isKnown && /^[^:]+:[^\s"']+$/.test(model)) return undefined;
  return 'Write scripted, openai:gpt-5, anthropic:claude-sonnet-5, or a package of the AI SDK and a model, like @ai-sdk/google:gemini-2.5-pro.';
}

export function serverProblem(server: string): string | undefined {
  return server === 'none' || isAddress(server) ? undefined : 'Write http://… or https://…, or none.';
}

export function signInProblem(issuer: string): string | undefined {
  return issuer === 'demo' || isAddress(issuer) ? undefined : 'Write http://… or https://…, or demo.';
}

function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s"'$]+$/.test(text) && URL.canParse(text);
}

/** A name for the server in the agents file: the part of its host that says most. */
export function serverNameOf(url: string): string {
  const labels = new URL(url).hostname.split('.');
  const said = labels.find(
    (label) => /^[a-z]/.test(label) && !['www', 'mcp', 'api', 'localhost', 'agent'].includes(label),
  );
  return (said ?? 'server').replaceAll(/[^a-z0-9-]/g, '-').slice(0, 32);
}
