import { useState, type ReactNode } from 'react';
import { Button } from '../../components/button.js';
import { useToasts } from '../../components/toasts.js';
import { columnsOf } from './column-choice.js';
import { filterText, type RunFilter } from './run-filter.js';
import {
  readViews,
  VIEW_NAME_MAX,
  VIEWS_MAX,
  withView,
  writeViews,
  type SavedView,
} from './stored-views.js';

interface SavedViewsProps {
  readonly filter: RunFilter;
  readonly onOpen: (view: SavedView) => void;
}

/** Saved filters and columns. They are stored in this browser. */
export function SavedViews({ filter, onOpen }: SavedViewsProps): ReactNode {
  const { say } = useToasts();
  const [views, setViews] = useState(readViews);
  const [name, setName] = useState('');
  const store = (next: readonly SavedView[]): void => {
    setViews(next);
    if (!writeViews(next)) say('This browser does not keep the views: it forbids storage.');
  };
  const [renamed, setRenamed] = useState<SavedView | null>(null);
  const close = (): void => {
    setName('');
    setRenamed(null);
  };
  const save = (): void => {
    const { search, columns } = renamed ?? {
      search: filterText(filter),
      columns: columnsOf(filter.definitionId),
    };
    const others = views.filter((view) => view !== renamed);
    store(withView(others, { name: name.trim(), search, columns }));
    close();
  };
  const isFull = views.length >= VIEWS_MAX && views.every((view) => view.name !== name.trim());
  return (
    <details className="saved-views">
      <summary className="button small">Saved views</summary>
      <div role="group" aria-label="Saved views" className="panel">
        {views.length > 0 && (
          <ul>
            {views.map((view) => (
              <ViewRow
                key={view.name}
                view={view}
                onOpen={() => onOpen(view)}
                onRename={() => {
                  setRenamed(view);
                  setName(view.name);
                }}
                onDelete={() => store(views.filter((other) => other !== view))}
              />
            ))}
          </ul>
        )}
        <NameForm
          {...{ name, renamed }}
          isRefused={name.trim() === '' || isFull}
          onChange={setName}
          onSave={save}
          onCancel={close}
        />
        <p className="hint">
          {isFull
            ? `At most ${VIEWS_MAX} views: delete one first.`
            : 'Keeps the filter and the columns in this browser. The same name replaces a view.'}
        </p>
      </div>
    </details>
  );
}

interface ViewRowProps {
  readonly view: SavedView;
  readonly onOpen: () => void;
  readonly onRename: () => void;
  readonly onDelete: () => void;
}

function ViewRow({ view, onOpen, onRename, onDelete }: ViewRowProps): ReactNode {
  return (
    <li>
      <Button variant="quiet" onPress={onOpen}>
        <bdi>{view.name}</bdi>
      </Button>
      <Button isSmall label={`Rename ${view.name}`} onPress={onRename}>
        Rename
      </Button>
      <Button isSmall label={`Delete ${view.name}`} onPress={onDelete}>
        Delete
      </Button>
    </li>
  );
}

interface NameFormProps {
  readonly name: string;
  /** The view that gets the name; null: a new one. */
  readonly renamed: SavedView | null;
  readonly isRefused: boolean;
  readonly onChange: (name: string) => void;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

function NameForm(props: NameFormProps): ReactNode {
  const { name, renamed, isRefused, onChange, onSave, onCancel } = props;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isRefused) onSave();
      }}
    >
      <label className="field">
        <span>{renamed === null ? 'Name of this view' : `New name of ${renamed.name}`}</span>
        <input
          value={name}
          maxLength={VIEW_NAME_MAX}
          autoComplete="off"
          onChange={({ target }) => onChange(target.value)}
        />
      </label>
      <Button type="submit" isDisabled={isRefused}>
        {renamed === null ? 'Save' : 'Rename'}
      </Button>
      {renamed !== null && <Button onPress={onCancel}>Cancel</Button>}
    </form>
  );
}
