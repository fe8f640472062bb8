import './styles/overlays.ts'
import { Modal, type ModalProps } from '@mantine/core'
import { useT } from '../i18n/index.ts'
import { useFocusReturn } from './focus-return.ts'

type Props = Omit<ModalProps, 'opened' | 'returnFocus'> & {
  /** Left out where the dialog is only drawn while it is open. */
  opened?: boolean
  /** The id of the row that it is about, which takes the focus where what opened it is gone. */
  row?: number | null
}

/**
 * The library's dialog as all screens use it: its close button has a name, and the focus goes back to what opened it, however
 * it closes. The library itself gives it back only to a dialog that is drawn with `opened` false afterwards.
 */
export function Dialog({ opened = true, row = null, children, ...props }: Props) {
  const t = useT()
  useFocusReturn(opened, row)
  return (
    <Modal
      closeButtonProps={{ 'aria-label': t('close') }}
      // Above the dashboard's full view, below questions.
      zIndex={250}
      {...props}
      opened={opened}
      returnFocus={false}
    >
      {children}
    </Modal>
  )
}
