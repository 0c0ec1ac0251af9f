/** The tags, index fields, priority and fairness of a run. Tags and fields link to the runs with the same value. */
import type { Workflow } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { Fact } from '../../components/fact.js';
import { PriorityChoice } from '../../components/priority-choice.js';
import { DialogForm } from '../../components/dialog-form.js';
import { TagRows } from '../../components/tag-rows.js';
import { tagChanges, tagsProblem, type TagRow } from '../../components/tags.js';
import { useToasts } from '../../components/toasts.js';
import { equals, TAG_PREFIX, valuesOf } from '../runs/conditions.js';
import { runsPath, WITH_CHILDREN } from '../runs/run-filter.js';
import { searchText } from '../runs/search-text.js';

interface RunFieldsProps {
  readonly run: Workflow;
  readonly onChange: () => void;
}

export function RunTags({ run, onChange }: RunFieldsProps): ReactNode {
  const [isEditing, setEditing] = useState(false);
  const names = Object.keys(run.tags).sort();
  return (
    <>
      {names.length === 0 && <span className="none">–</span>}{' '}
      <Values run={run} names={names.map((name) => TAG_PREFIX + name)} />{' '}
      <Button isSmall variant="quiet" needs="controller" onPress={() => setEditing(true)}>
        Edit tags
      </Button>
      {isEditing && <TagsForm run={run} onChange={onChange} onClose={() => setEditing(false)} />}
    </>
  );
}

function RunPriority({ run, onChange }: RunFieldsProps): ReactNode {
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      {run.priority}{' '}
      {run.endTime === null && (
        <Button isSmall variant="quiet" needs="controller" onPress={() => setEditing(true)}>
          Change priority
        </Button>
      )}
      {isEditing && (
        <PriorityForm run={run} onChange={onChange} onClose={() => setEditing(false)} />
      )}
    </>
  );
}

/** In which order its work is handed out. */
export function RunOrder({ run, onChange }: RunFieldsProps): ReactNode {
  return (
    <>
      <Fact label="Priority">
        <RunPriority {...{ run, onChange }} />
      </Fact>
      {run.fairnessKey !== null && (
        <Fact label="Fairness">
          <RunFairness run={run} />
        </Fact>
      )}
    </>
  );
}

/** A weight of 1 is the default. */
function RunFairness({ run }: Pick<RunFieldsProps, 'run'>): ReactNode {
  const { fairnessKey, fairnessWeight } = run;
  return (
    <>
      <bdi>{fairnessKey}</bdi>
      {fairnessWeight !== 1 && `, weight ${fairnessWeight}`}
    </>
  );
}

function PriorityForm({
  run,
  onChange,
  onClose,
}: RunFieldsProps & { readonly onClose: () => void }): ReactNode {
  const { client } = useSession();
  const { say } = useToasts();
  const [priority, setPriority] = useState(run.priority);
  const save = async (): Promise<void> => {
    await client.workflows.setPriority(run.workflowId, priority);
    say('The priority was changed.');
    onChange();
  };
  return (
    <DialogForm
      title="Change the priority"
      submit="Save"
      hint="Work of this run that waits moves to its new place. The history records who changed it."
      onSubmit={save}
      onClose={onClose}
    >
      <PriorityChoice label="Priority" value={priority} onChange={setPriority} />
    </DialogForm>
  );
}

export function RunIndex({ run }: Pick<RunFieldsProps, 'run'>): ReactNode {
  return <Values run={run} names={Object.keys(run.index)} />;
}

/** Maximum number of list elements shown. */
const VALUES_SHOWN = 20;

function Values({
  run,
  names,
}: {
  readonly run: Workflow;
  readonly names: readonly string[];
}): ReactNode {
  return names.map((name) => {
    const values = valuesOf(run, name);
    return (
      <span key={name} className="run-field">
        <bdi className="quiet">
          {name.startsWith(TAG_PREFIX) ? name.slice(TAG_PREFIX.length) : name}
        </bdi>{' '}
        {values.slice(0, VALUES_SHOWN).map((value, at) => (
          <Link
            key={at}
            href={runsPath({ where: searchText([equals(name, value)]), parent: WITH_CHILDREN })}
            title="Runs with this value"
          >
            <bdi>{value === '' ? '""' : String(value)}</bdi>
          </Link>
        ))}
        {values.length > VALUES_SHOWN && (
          <span className="quiet">and {values.length - VALUES_SHOWN} more</span>
        )}
      </span>
    );
  });
}

function TagsForm({
  run,
  onChange,
  onClose,
}: RunFieldsProps & { readonly onClose: () => void }): ReactNode {
  const { client } = useSession();
  const { say } = useToasts();
  // The tags when the form was opened: only the user's changes are sent.
  const [before] = useState(run.tags);
  const [rows, setRows] = useState<readonly TagRow[]>(
    Object.entries(before).map(([name, value]) => ({ name, value })),
  );
  const problem = tagsProblem(rows);
  const changes = tagChanges(before, rows);
  const isSame = Object.keys(changes).length === 0;
  const save = async (): Promise<void> => {
    if (!isSame) {
      await client.workflows.updateTags(run.workflowId, changes);
      say('The tags were changed.');
      onChange();
    }
  };
  return (
    <DialogForm
      title="Edit the tags"
      submit="Save"
      isInvalid={problem !== null}
      hint="Tags do not change what the run does. The history records who changed them."
      onSubmit={save}
      onClose={onClose}
    >
      <TagRows rows={rows} onChange={setRows} problem={problem} />
    </DialogForm>
  );
}
