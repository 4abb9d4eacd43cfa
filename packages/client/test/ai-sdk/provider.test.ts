import { InvalidArgumentError, NoSuchModelError } from '@ai-sdk/provider';
import type { ProviderV2, ProviderV3, ProviderV4 } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { createInterlude } from '../../src/ai-sdk/index.ts';

const options = { baseURL: 'https://interlude.example', token: 'secret' };

/** That each is what its SDK takes for a provider is for the compiler to say. */
const providers: [string, ProviderV2 | ProviderV3 | ProviderV4][] = [
  ['v4', createInterlude(options) satisfies ProviderV4],
  ['v3', createInterlude({ ...options, specificationVersion: 'v3' }) satisfies ProviderV3],
  ['v2', createInterlude({ ...options, specificationVersion: 'v2' }) satisfies ProviderV2],
];

test.each(providers)('a provider for %s has its agents as models, and no others', (version, provider) => {
  expect(provider.languageModel('assistant')).toMatchObject({
    specificationVersion: version,
    provider: 'interlude',
    modelId: 'assistant',
  });
  expect(() => provider.imageModel('painter')).toThrow(NoSuchModelError);
  expect(() => provider.imageModel('painter')).toThrow('No such imageModel: painter');
  const embedding = 'embeddingModel' in provider ? provider.embeddingModel : provider.textEmbeddingModel;
  expect(() => embedding('vectors')).toThrow('No such embeddingModel: vectors');
});

test('a provider is also the function that makes its models', () => {
  expect(createInterlude(options)('assistant')).toMatchObject({ modelId: 'assistant' });
});

test.each([
  ['baseURL', { baseURL: 'interlude.example' }],
  ['baseURL', { baseURL: '' }],
  ['specificationVersion', { specificationVersion: 'v1' as 'v4' }],
])('a %s that is none is told at once: %j', (argument, wrong) => {
  const attempt = () => createInterlude({ ...options, ...wrong });
  expect(attempt).toThrow(InvalidArgumentError);
  expect(attempt).toThrow(argument);
});

test('files are taken by their URL, so that none is downloaded only to be refused', async () => {
  const patterns = await createInterlude(options)('assistant').supportedUrls;
  expect(patterns['*/*']?.some((pattern) => pattern.test('https://example.com/cat.png'))).toBe(true);
});
