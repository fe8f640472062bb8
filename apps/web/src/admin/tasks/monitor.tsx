import { Button } from '@mantine/core'
import { IconArrowLeft, IconArrowRight, IconRefresh } from '@tabler/icons-react'
import { useCallback, useRef, useState } from 'react'
import { useT } from '../../i18n/admin.ts'
import { UnavailableHint } from '../kit/index.ts'
import classes from './tasks.module.css'

/** The job queue's own monitor in a frame. It is on our origin, so we can navigate it. */
export function Monitor() {
  const t = useT()
  const frame = useRef<HTMLIFrameElement>(null)
  const [can, setCan] = useState({ back: false, forward: false })
  const inFrame = (act: (view: Window) => void) => {
    const view = frame.current?.contentWindow
    if (view) act(view)
  }
  // `navigation` covers only the frame; the frame's `history` is the whole tab's.
  const look = useCallback(() => {
    const navigation = frame.current?.contentWindow?.navigation
    if (navigation) setCan({ back: navigation.canGoBack, forward: navigation.canGoForward })
  }, [])
  const follow = () => {
    look()
    inFrame(view => view.navigation?.addEventListener('currententrychange', look))
  }
  return (
    <div className="stack">
      <div className={classes.tools}>
        <UnavailableHint why={can.back ? undefined : t('tasks.noBack')}>
          <Button
            variant="default"
            leftSection={<IconArrowLeft size={16} aria-hidden />}
            onClick={() => inFrame(view => view.navigation.back())}
          >
            {t('tasks.back')}
          </Button>
        </UnavailableHint>
        <UnavailableHint why={can.forward ? undefined : t('tasks.noForward')}>
          <Button
            variant="default"
            leftSection={<IconArrowRight size={16} aria-hidden />}
            onClick={() => inFrame(view => view.navigation.forward())}
          >
            {t('tasks.forward')}
          </Button>
        </UnavailableHint>
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} aria-hidden />}
          onClick={() => inFrame(view => view.location.reload())}
        >
          {t('tasks.refresh')}
        </Button>
        <span className="dim">{t('tasks.monitorHint')}</span>
      </div>
      <iframe
        ref={frame}
        className={classes.frame}
        src="/task-monitor"
        title={t('tasks.tab.monitor')}
        onLoad={follow}
      />
    </div>
  )
}
