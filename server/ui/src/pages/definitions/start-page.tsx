/** Starts a run of a definition: its data, and options such as a reference and a time. */
import {
  isApiError,
  type DefinitionDocument,
  type Workflow,
  type WorkflowHandle,
} from '@stepwright/sdk';
import { useEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react';
import { Link, useLocation } from 'wouter';
import { useAddressQuery } from '../../app/address-query.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { useToasts } from '../../components/toasts.js';
import { useUnsavedWarning } from '../../components/unsaved-warning.js';
import {
  draftsIn,
  fromJson,
  isMembers,
  toJson,
  type DataMembers,
  type Problem,
} from '../../data-form/data-value.js';
import { readForm, type ObjectField } from '../../data-form/form-fields.js';
import { initialMembers } from '../../data-form/form-values.js';
import { useRun, useRunInput } from '../run/use-run.js';
import { DisabledNote } from './availability.js';
import { problemOf, shownAs, StartDataEditor, valueOf, type StartData } from './start-data.js';
import { StartOptionsForm } from './start-options-form.js';
import { choicesOf, defaultsOf, NO_CHOICES, problemsOf, startOptions } from './start-options.js';
import { StartResult } from './start-result.js';
import { useDefinition, useLatestDefinition } from './use-definition.js';
import { VersionChoice, wantedVersion } from './version-choice.js';
import './definitions.css';

/** `?version=` selects the version, and `?from=` the run whose data, reference and tags prefill the form. */
export function StartPage({ id }: { readonly id: string }): ReactNode {
  const [address, setAddress] = useAddressQuery();
  const latest = useLatestDefinition(id);
  const latestVersion = latest.data?.version ?? 1;
  const version = wantedVersion(address.get('version'), latestVersion);
  const shown = useDefinition(id, version, latest.data !== undefined);
  const from = address.get('from') ?? '';
  const input = useRunInput(from, from !== '');
  const run = useRun(from, from !== '');
  const error = latest.error ?? shown.error ?? input.error ?? run.error;
  const isReady = from === '' || (input.data !== undefined && run.data !== undefined);
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
      {error !== null && <ProblemView error={error} onRetry={() => void latest.refetch()} />}
      {(shown.isPending || !isReady) && error === null && <Loading />}
      {latest.data !== undefined && <DisabledNote definition={latest.data} />}
      {shown.data !== undefined && isReady && (
        <>
          <VersionChoice
            {...{ version, latestVersion }}
            onChoose={(next) =>
              setAddress({ ...Object.fromEntries(address), version: String(next) })
            }
          />
          <StartForm
            definition={shown.data}
            // By default, the run gets the latest version at the time it starts.
            version={address.has('version') ? version : undefined}
            input={input.data}
            run={run.data}
            isDisabled={latest.data?.disabled === true}
          />
        </>
      )}
    </Page>
  );
}

interface StartFormProps {
  readonly definition: DefinitionDocument;
  readonly version: number | undefined;
  readonly input: object | undefined;
  /** The run whose data, reference and tags prefill the form. */
  readonly run: Workflow | undefined;
  readonly isDisabled: boolean;
}

function StartForm({ definition, version, input, run, isDisabled }: StartFormProps): ReactNode {
  const form = useMemo(() => readForm(definition.input), [definition]);
  const initial = useMemo(() => initialData(form, input), [form, input]);
  // Null until the user changes the data, so that it follows the selected version.
  const [edited, setEdited] = useState<StartData | null>(null);
  const [choices, setChoices] = useState(() => (run === undefined ? NO_CHOICES : choicesOf(run)));
  const data = shownAs(edited ?? initial, form);
  const defaults = defaultsOf(definition);
  const optionProblems = problemsOf(choices, defaults);
  const sending = useSending(definition.id);
  useUnsavedWarning(edited !== null && sending.started === null);
  const element = useFocusOnProblem(sending.problems);
  const send = (): void => {
    if (Object.keys(optionProblems).length > 0) return;
    void sending.send(data, startOptions(choices, version));
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
        <StartOptionsForm
          {...{ choices, defaults }}
          problems={optionProblems}
          onChange={setChoices}
        />
      </section>
      {sending.error !== null && <StartProblem error={sending.error} />}
      <StartButtons
        sending={sending}
        isDisabled={isDisabled || Object.keys(optionProblems).length > 0}
      />
      {sending.started !== null && (
        <StartResult workflowId={sending.started.id} joined={sending.started.joined} />
      )}
    </form>
  );
}

function StartButtons({
  sending,
  isDisabled,
}: {
  readonly sending: ReturnType<typeof useSending>;
  readonly isDisabled: boolean;
}): ReactNode {
  return (
    <div className="start-buttons">
      <label>
        <input
          type="checkbox"
          checked={sending.isWaiting}
          onChange={({ target }) => sending.setWaiting(target.checked)}
        />{' '}
        Stay here and show the result
      </label>
      <Button
        type="submit"
        variant="primary"
        needs="controller"
        isDisabled={isDisabled}
        isPending={sending.isPending}
      >
        Start
      </Button>
    </div>
  );
}

/** Moves the focus to the first field with a problem. */
function useFocusOnProblem(problems: readonly Problem[]): RefObject<HTMLFormElement | null> {
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (problems.length > 0) {
      element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    }
  }, [problems]);
  return element;
}

function StartProblem({ error }: { readonly error: unknown }): ReactNode {
  const conflicting = isApiError(error) ? error.problem['workflowId'] : undefined;
  return (
    <div>
      <ProblemView error={error} />
      {typeof conflicting === 'string' && (
        <p>
          That run:{' '}
          <Link href={toPath('runs', conflicting)}>
            <code>{conflicting}</code>
          </Link>
        </p>
      )}
    </div>
  );
}

function initialData(form: ObjectField | null, input: object | undefined): StartData {
  const value = input === undefined ? undefined : fromJson(input);
  const members: DataMembers = isMembers(value) ? value : form === null ? {} : initialMembers(form);
  return shownAs({ view: 'form', value: members }, form);
}

/** Sends the start and keeps its result. */
function useSending(definitionId: string) {
  const { client, noticeFailure } = useSession();
  const { say } = useToasts();
  const [, navigate] = useLocation();
  const [error, setError] = useState<unknown>(null);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [isPending, setPending] = useState(false);
  const [isWaiting, setWaiting] = useState(false);
  const [started, setStarted] = useState<Pick<WorkflowHandle, 'id' | 'joined'> | null>(null);
  const send = async (data: StartData, options: ReturnType<typeof startOptions>): Promise<void> => {
    setError(null);
    setStarted(null);
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
      const { id, joined } = await client.workflows.start(definitionId, json, options);
      if (isWaiting) setStarted({ id, joined });
      else {
        if (joined) say(`Joined the existing run ${id} with this reference. No run was started.`);
        navigate(toPath('runs', id));
      }
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
    started,
    send,
    /** The data has changed, so the previous problems are outdated. */
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
