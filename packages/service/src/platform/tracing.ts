import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** The W3C Trace Context header, which identifies the trace of a call. */
export const TRACEPARENT = 'traceparent';

/** The origin of a call. It is logged, and sent in the headers of calls that result from it. */
export interface Origin {
  readonly requestId: string;
  /** The caller's header if it is valid, in the form in which it is passed on. */
  readonly traceparent?: string | undefined;
}

export interface StartedSpan {
  readonly span: Span;
  readonly context: Context;
}

type Attributes = Readonly<Record<string, string | number | boolean>>;

/**
 * Returns functions that create spans, or undefined if no SDK collects spans. Each part of the service calls this once,
 * when the part is created. That is late enough, because an SDK registers itself before the service starts (node
 * --import).
 */
export function findTracing() {
  const tracer = registeredTracer();
  if (!tracer) return undefined;
  const started = (span: Span, parent: Context): StartedSpan => ({ span, context: trace.setSpan(parent, span) });
  return {
    /** Starts the span of a request: a child of the caller's span, or the first of a new trace. */
    startRequest(name: string, traceparent: string | undefined): StartedSpan {
      const remote = traceparent === undefined ? undefined : parseTraceparent(traceparent);
      const parent = remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : ROOT_CONTEXT;
      return started(tracer.startSpan(name, { kind: SpanKind.SERVER }, parent), parent);
    },
    /** Starts the span of a call to another system: a child of the current span, or the first of a new trace. */
    startCall(name: string, attributes: Attributes): StartedSpan {
      const parent = context.active();
      return started(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent), parent);
    },
    /** Returns undefined outside of a span: jobs poll many times a second, and each poll would be its own trace. */
    startStatement(name: string): StartedSpan | undefined {
      const parent = context.active();
      if (trace.getSpan(parent) === undefined) return undefined;
      const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': name };
      return started(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent), parent);
    },
    runWithin: <T>({ context: at }: Pick<StartedSpan, 'context'>, work: () => T): T => context.with(at, work),
    currentContext: () => context.active(),
  };
}

export type Tracing = NonNullable<ReturnType<typeof findTracing>>;

/**
 * Returns undefined if no SDK is registered. In that case the proxy provider of the OpenTelemetry API has no delegate.
 */
function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  const name = 'perennial';
  return 'getDelegateTracer' in provider
    ? (provider as { getDelegateTracer(name: string): Tracer | undefined }).getDelegateTracer(name)
    : provider.getTracer(name);
}

/** Ends the span of failed work. Records only the error's kind, because its message may quote the input. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : typeof error });
  span.end();
}

/** Returns the traceparent header for a call within the span. */
export function toTraceparent(span: Span): string {
  return formatTraceparent(span.spanContext());
}

const TRACEPARENT_FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Parses a traceparent header. Ignores fields that later versions append. */
function parseTraceparent(value: string) {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = TRACEPARENT_FORM.exec(value) ?? [];
  if (traceId === '' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

/** Returns a valid header in the form in which it is passed on. Undefined if it is invalid. */
export function readTraceparent(value: unknown): string | undefined {
  const parsed = typeof value === 'string' ? parseTraceparent(value) : undefined;
  return parsed && formatTraceparent(parsed);
}

const formatTraceparent = ({ traceId, spanId, traceFlags }: Pick<SpanContext, 'traceId' | 'spanId' | 'traceFlags'>) =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
