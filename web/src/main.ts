import { mount } from 'svelte'
import App from './App.svelte'
import { Session } from './lib/session.svelte'
import { site } from './lib/config.svelte'

const target = document.getElementById('app')
if (!target) throw new Error('no #app in the page')
void site.load()
mount(App, { target, props: { session: new Session() } })
