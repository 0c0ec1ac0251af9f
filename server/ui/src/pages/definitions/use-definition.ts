/** Definitions of the server, kept current by the change stream. */
import type { DefinitionDocument, OpenSteps } from '@stepwright/sdk';
import {
  keepPreviousData,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useLive, usePollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';

/** @param isWanted false: returns only cached data, because the definition may not exist */
export function useLatestDefinition(
  id: string,
  isWanted = id !== '',
): UseQueryResult<DefinitionDocument> {
  const { client } = useSession();
  const queries = useQueryClient();
  useLive(({ definitions, lag }) => {
    if (definitions.has(id) || lag) {
      void queries.invalidateQueries({ queryKey: ['definition', id, 'latest'] });
    }
  });
  return useQuery({
    queryKey: ['definition', id, 'latest'],
    queryFn: ({ signal }) => client.definitions.get(id, { signal }),
    refetchInterval: usePollInterval(),
    enabled: isWanted,
  });
}

/** A version never changes, so it is fetched only once. */
export function useDefinition(
  id: string,
  version: number,
  isWanted = true,
): UseQueryResult<DefinitionDocument> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['definition', id, version],
    queryFn: ({ signal }) => client.definitions.get(id, { version, signal }),
    staleTime: Infinity,
    enabled: isWanted,
    placeholderData: keepPreviousData,
  });
}

/**
 * The current steps of the version's open runs. Counting reads their states, so it is done at intervals, not on each change.
 */
export function useOpenSteps({ id, version = 1 }: DefinitionDocument): OpenSteps | undefined {
  const { client } = useSession();
  return useQuery({
    queryKey: ['definition', id, version, 'open steps'],
    queryFn: ({ signal }) => client.definitions.openSteps(id, { version, signal }),
    refetchInterval: OPEN_STEPS_MS,
  }).data;
}

const OPEN_STEPS_MS = 10_000;

/** The posted text of a version, which also never changes. */
export function useSource({ id, version = 1 }: DefinitionDocument): UseQueryResult<string> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['definition', id, version, 'source'],
    queryFn: ({ signal }) => client.definitions.source(id, { version, signal }),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}
