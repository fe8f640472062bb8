import '../../kit/styles/forms.ts'
import type { User } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { useOpenForm, type DialogProps } from '../kit/index.ts'
import { UserForm } from './user-form.tsx'

/** The Edit dialog. A click beside it does not close it, so that nothing that was entered is lost by one. */
export function EditDialog({ task, onClose, onSaved }: DialogProps<User>) {
  const t = useT()
  const { content, opened, mark, leave, isOpen, saved } = useOpenForm(task, { onClose })
  return (
    <Dialog
      opened={opened}
      onClose={leave}
      closeOnClickOutside={false}
      title={content && t('form.about', { what: t('list.edit'), name: content.row.username })}
      size="lg"
    >
      {content && (
        <UserForm
          key={content.id}
          user={content.row}
          onDirty={mark}
          onCancel={leave}
          isOpen={isOpen}
          onSaved={undo => {
            onSaved(undo)
            saved()
          }}
        />
      )}
    </Dialog>
  )
}
