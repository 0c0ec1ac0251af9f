/** Starts a run of a definition: its data, and a reference. */
import { isApiError, type DefinitionDocument } from '@stepwright/sdk';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { draftsIn, toJson, type Problem } from '../../data-form/data-value.js';
import { readForm, type ObjectField } from '../../data-form/form-fields.js';
import { initialMembers } from '../../data-form/form-values.js';
import { problemOf, shownAs, StartDataEditor, valueOf, type StartData } from './start-data.js';
import { StartOptionsForm } from './start-options-form.js';
import { NO_CHOICES, startOptions } from './start-options.js';
import { StartResult } from './start-result.js';
import { useLatestDefinition } from './use-definition.js';
import './definitions.css';

/** Starts a run of the latest version. */
export function StartPage({ id }: { readonly id: string }): ReactNode {
  const latest = useLatestDefinition(id);
  return (
    <Page
      title={`Start ${id}`}
      heading={
        <>
          Start <bdi>{id}</bdi>
        </>
      }
      actions={
        <Link className="button" href={toPath('definitions', id)}>
          Definition
        </Link>
      }
    >
      {latest.error !== null && (
        <ProblemView error={latest.error} onRetry={() => void latest.refetch()} />
      )}
      {latest.isPending && <Loading />}
      {latest.data !== undefined && <StartForm definition={latest.data} />}
    </Page>
  );
}

function StartForm({ definition }: { readonly definition: DefinitionDocument }): ReactNode {
  const form = useMemo(() => readForm(definition.input), [definition]);
  const initial = useMemo(() => initialData(form), [form]);
  // Null while the user has not changed the data, so that they follow the version.
  const [edited, setEdited] = useState<StartData | null>(null);
  const [choices, setChoices] = useState(NO_CHOICES);
  const data = shownAs(edited ?? initial, form);
  const sending = useSending(definition.id);
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (sending.problems.length > 0) {
      element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    }
  }, [sending.problems]);
  const send = (): void => {
    void sending.send(data, startOptions(choices));
  };
  return (
    <form
      ref={element}
      className="start-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <StartDataEditor
        {...{ form, data }}
        problems={sending.problems}
        onChange={(next) => {
          setEdited(next);
          sending.forget();
        }}
      />
      <section aria-labelledby="start-options-title">
        <h2 id="start-options-title">Options</h2>
        <StartOptionsForm choices={choices} onChange={setChoices} />
      </section>
      {sending.error !== null && <ProblemView error={sending.error} />}
      <div className="start-buttons">
        <label>
          <input
            type="checkbox"
            checked={sending.isWaiting}
            onChange={({ target }) => sending.setWaiting(target.checked)}
          />{' '}
          Stay here and show the result
        </label>
        <Button type="submit" variant="primary" needs="controller" isPending={sending.isPending}>
          Start
        </Button>
      </div>
      {sending.startedId !== null && <StartResult workflowId={sending.startedId} />}
    </form>
  );
}

function initialData(form: ObjectField | null): StartData {
  return shownAs({ view: 'form', value: form === null ? {} : initialMembers(form) }, form);
}

/** Sends the start, and keeps what came of it. */
function useSending(definitionId: string) {
  const { client, noticeFailure } = useSession();
  const [, navigate] = useLocation();
  const [error, setError] = useState<unknown>(null);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [isPending, setPending] = useState(false);
  const [isWaiting, setWaiting] = useState(false);
  const [startedId, setStartedId] = useState<string | null>(null);
  const send = async (data: StartData, options: ReturnType<typeof startOptions>): Promise<void> => {
    setError(null);
    setStartedId(null);
    const own = data.view === 'form' ? draftsIn(data.value) : [];
    setProblems(own);
    const problem = problemOf(data);
    if (problem !== null) {
      setError(new Error(problem));
      return;
    }
    setPending(true);
    try {
      // The members of an object are JSON.
      const json = toJson(valueOf(data)) as Record<string, unknown>;
      const { id } = await client.workflows.start(definitionId, json, options);
      if (isWaiting) setStartedId(id);
      else navigate(toPath('runs', id));
    } catch (failure) {
      noticeFailure(failure);
      setError(failure);
      setProblems(dataProblems(failure));
    } finally {
      setPending(false);
    }
  };
  return {
    error,
    problems,
    isPending,
    isWaiting,
    setWaiting,
    startedId,
    send,
    /** The data have changed: what was said about them is outdated. */
    forget: () => {
      setProblems([]);
      setError(null);
    },
  };
}

function dataProblems(error: unknown): Problem[] {
  if (!isApiError(error)) return [];
  return error.errors.flatMap(({ pointer, message }) =>
    pointer === undefined ? [] : [{ pointer, message }],
  );
}
