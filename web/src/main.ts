import { mount } from 'svelte'
import App from './App.svelte'
import { feel } from './feel/feel'
import { site } from './lib/config.svelte'
import { Session } from './lib/session.svelte'
import { speech } from './messages/words.svelte'
import { keepOfflinePage } from './offline/register'
import './look/tokens.css'
import './look/base.css'

const target = document.getElementById('app')
if (!target) throw new Error('no #app in the page')

speech.begin()
feel.begin()
const session = new Session()
session.ear = feel
addEventListener('error', () => session.scriptFailed())
addEventListener('unhandledrejection', () => session.scriptFailed())
addEventListener('online', () => session.wake())
addEventListener('pageshow', () => session.wake())
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') session.wake()
})
void site.load()
session.begin(location.pathname)
mount(App, { target, props: { session } })
keepOfflinePage()
