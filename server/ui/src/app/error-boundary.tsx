import { Component, type ReactNode } from 'react';
import { ProblemView } from '../components/problem-view.js';

interface State {
  readonly error: Error | null;
}

/** Keeps the navigation and the other pages usable when one page fails. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <>
        <h1 tabIndex={-1}>This page failed</h1>
        <ProblemView error={error} onRetry={() => this.setState({ error: null })} />
      </>
    );
  }
}
