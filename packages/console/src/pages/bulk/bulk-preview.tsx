import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { PreviewBox } from '../order/preview-box.tsx';

/** Shows the number, the sum and the effects of the refunds that a run has not begun. */
export function BulkPreview({ runId, title }: { readonly runId: string; readonly title: string }) {
  const preview = useQuery({
    queryKey: ['/bulk', runId, 'preview'],
    queryFn: ({ signal }) => api.get('/bulk/{runId}/preview', { runId }, signal),
    refetchInterval: 15_000,
  });
  return <PreviewBox title={title} preview={preview.data} error={preview.error} isAlreadyAsked />;
}
