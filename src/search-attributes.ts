import { isGrpcServiceError } from '@temporalio/client';
import type { Connection } from '@temporalio/client';
import { searchAttributes } from './workflows/messages.ts';

const names = Object.values(searchAttributes).map(({ name }) => name);
/** `INDEXED_VALUE_TYPE_KEYWORD` in Temporal's API; all of ours are keywords. */
const keyword = 2;
/** gRPC's `ALREADY_EXISTS`. */
const alreadyExists = 6;

/** Makes the namespace know the attributes every turn is started with; harmless when it knows them already. */
export async function registerSearchAttributes(
  { operatorService }: Pick<Connection, 'operatorService'>,
  namespace: string,
): Promise<void> {
  const attributes = Object.fromEntries(names.map((name) => [name, keyword]));
  try {
    await operatorService.addSearchAttributes({ namespace, searchAttributes: attributes });
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === alreadyExists) return;
    if (await knowsAll(operatorService, namespace)) return;
    throw new SearchAttributesMissing(
      `Temporal does not accept the search attributes of namespace "${namespace}". Create them yourself: ` +
        `temporal operator search-attribute create --namespace ${namespace} --type Keyword --name ${names.join(' --name ')}`,
      { cause: error },
    );
  }
}

/** Adding may be forbidden where an administrator has done it. */
async function knowsAll(operatorService: Connection['operatorService'], namespace: string): Promise<boolean> {
  try {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    return names.every((name) => name in customAttributes);
  } catch {
    return false;
  }
}

class SearchAttributesMissing extends Error {
  override name = 'SearchAttributesMissing';
}
