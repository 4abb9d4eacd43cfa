/** An agent's card: what it is, where it is spoken to and how, specification 1.0, section 4.4. Pure. */
import type { AgentCard, AgentInterface, SecurityScheme } from '@a2a-js/sdk';
import type { AgentConfig, AuthConfig } from '../../config/config.ts';
import type { SigningKey } from '../../config/signing-keys.ts';
import { imageTypes } from '../../turn/image-part.ts';
import { elicitationExtension } from '../../a2a/extension.ts';

export const agentPath = (agent: string) => `/run/agents/${agent}/a2a`;

export interface CardParts {
  publicUrl: string;
  auth: AuthConfig;
  version: string;
  /** Sign cards, each of them. */
  signingKeys: SigningKey[];
}

export function agentCard(
  { name, title, description, images }: Pick<AgentConfig, 'name' | 'title' | 'description' | 'images'>,
  { publicUrl, auth, version }: Omit<CardParts, 'signingKeys'>,
): AgentCard {
  const url = publicUrl + agentPath(name);
  const words = description === '' ? `The agent ${title}.` : description;
  return {
    name: title,
    description: words,
    version,
    supportedInterfaces: [
      interfaceAt(url, 'JSONRPC', '1.0'),
      interfaceAt(url, 'HTTP+JSON', '1.0'),
      interfaceAt(url, 'JSONRPC', '0.3'),
      interfaceAt(url, 'HTTP+JSON', '0.3'),
    ],
    provider: { organization: 'Interlude', url: publicUrl },
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: false,
      extensions: [
        {
          uri: elicitationExtension,
          description: 'Questions to the user, and answers to them, as data',
          required: false,
          params: undefined,
        },
      ],
    },
    securitySchemes: { bearer: bearer(), issuer: issuer(auth) },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }, { schemes: { issuer: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/json', ...(images ? imageTypes : [])],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: name,
        name: title,
        description: words,
        tags: ['chat'],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
}

function interfaceAt(url: string, protocolBinding: string, protocolVersion: string): AgentInterface {
  return { url, protocolBinding, protocolVersion, tenant: '' };
}

function bearer(): SecurityScheme {
  const description = 'An access token of the user, or an API key';
  return {
    scheme: {
      $case: 'httpAuthSecurityScheme',
      value: { description, scheme: 'bearer', bearerFormat: '' },
    },
  };
}

function issuer({ issuer: url }: AuthConfig): SecurityScheme {
  return {
    scheme: {
      $case: 'openIdConnectSecurityScheme',
      value: {
        description: 'Where users sign in',
        openIdConnectUrl: `${url.replace(/\/$/, '')}/.well-known/openid-configuration`,
      },
    },
  };
}
