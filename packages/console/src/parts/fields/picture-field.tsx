import { Button, Group, Input } from '@mantine/core';
import { useId } from 'react';
import type { StoredPicture } from '../../api/types.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { PictureBox, useStoredPicture } from '../values/picture.tsx';
import { DropBox, useReading } from './file-drop.tsx';

const useTexts = dictionary({
  choose: ['Drop a picture here, or choose one', '拖入图片，或点击选择'],
  another: ['Choose another picture', '重新选择'],
  limit: ['PNG or SVG, at most 64 KB', 'PNG 或 SVG，最大 64 KB'],
  stored: ['{kind}, {size} KB', '{kind}，{size} KB'],
  notSaved: ['{size} KB, not saved yet', '{size} KB，尚未保存'],
  none: ['None', '无'],
  remove: ['Remove', '移除'],
  undo: ['Undo', '撤销更改'],
  removed: ['Will be removed when saved', '保存后移除'],
  tooBig: ['The file is {size} KB; the limit is 64 KB', '文件大小为 {size} KB，不能超过 64 KB'],
  unreadable: ['{name} cannot be read', '无法读取 {name}'],
});

/** A chosen picture that is not saved yet. */
interface ChosenPicture {
  readonly name: string;
  readonly bytes: number;
  /** The picture's bytes for the request. */
  readonly base64: string;
  /** The source of an image element. */
  readonly address: string;
}

/** Undefined keeps the stored picture; null removes it. */
export type PictureChange = ChosenPicture | null | undefined;

/** The service's size limit for pictures. Larger files are not sent. */
const MAX_BYTES = 65_536;
/** The first bytes of a PNG, in base64. */
const PNG = 'iVBORw0KGgo';

const kilobytes = (bytes: number): string => (bytes / 1024).toFixed(1);

async function readPicture(file: File, t: ReturnType<typeof useTexts>): Promise<ChosenPicture> {
  const { name, size } = file;
  if (size > MAX_BYTES) throw new Error(t('tooBig', { size: kilobytes(size) }));
  try {
    const base64 = toBase64(new Uint8Array(await file.arrayBuffer()));
    const type = base64.startsWith(PNG) ? 'image/png' : 'image/svg+xml';
    return { name, bytes: size, base64, address: `data:${type};base64,${base64}` };
  } catch {
    throw new Error(t('unreadable', { name }));
  }
}

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

/** Returns the URL of the picture as it will be after saving: the chosen picture, no picture, or the stored picture. */
export function useShownPicture(stored: StoredPicture | null, change: PictureChange) {
  return useStoredPicture(change === undefined ? stored : null, change === undefined).address ?? change?.address;
}

interface PictureFieldProps {
  readonly label: string;
  readonly description: string;
  readonly stored: StoredPicture | null;
  readonly change: PictureChange;
  readonly isReadOnly?: boolean;
  readonly ofBenefit?: boolean;
  /** The reason why the service refused the picture. */
  readonly error?: string | undefined;
  onChange(change: PictureChange): void;
}

export function PictureField(props: PictureFieldProps) {
  const { label, description, stored, change, isReadOnly = false, ofBenefit = false, onChange } = props;
  const t = useTexts();
  const id = useId();
  const { wrong, take, forget } = useReading((file) => readPicture(file, t), onChange);
  const { address, isBroken } = useStoredPicture(stored);
  const error = wrong ?? props.error;
  const isKept = change === undefined;
  const shown = isKept ? address : change?.address;
  const box = <PictureBox address={shown} isBroken={isKept && isBroken} ofBenefit={ofBenefit} />;
  const isThere = isKept ? stored !== null : change !== null;
  const words = describe(t, stored, change);
  return (
    <Input.Wrapper id={id} label={label} description={description} error={error} labelElement="div">
      <Group gap={isReadOnly ? 12 : 8} mt={4} wrap="nowrap">
        {isReadOnly ? (
          <>
            {box}
            <span className="quiet">{words ?? t('none')}</span>
          </>
        ) : (
          <DropBox
            icon={box}
            name={change?.name ?? t(isThere ? 'another' : 'choose')}
            hint={words ?? t('limit')}
            accept=".png,.svg,image/png,image/svg+xml"
            aria-label={label}
            aria-invalid={error ? true : undefined}
            aria-describedby={`${id}-description${error ? ` ${id}-error` : ''}`}
            onFile={take}
          />
        )}
        {isReadOnly || (!isThere && isKept) ? null : (
          <Button
            variant="subtle"
            size="xs"
            color={isKept ? 'red' : 'gray'}
            onClick={() => {
              forget();
              onChange(isKept ? null : undefined);
            }}
          >
            {t(isKept ? 'remove' : 'undo')}
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  );
}

function describe(t: ReturnType<typeof useTexts>, stored: StoredPicture | null, change: PictureChange) {
  if (change) return t('notSaved', { size: kilobytes(change.bytes) });
  if (change === null) return t('removed');
  if (!stored) return undefined;
  const kind = stored.mediaType === 'image/png' ? 'PNG' : 'SVG';
  return t('stored', { kind, size: kilobytes(stored.bytes) });
}
